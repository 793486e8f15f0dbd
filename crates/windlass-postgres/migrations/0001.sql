-- Sessions, their logs, answers and inboxes. The tenant is the first column of every key, and row-level security shows a
-- role the rows of its tenants only. Workers write logs under a lease; services fill inboxes and read.

create table wl_member(
    role name not null,
    tenant text not null check (tenant <> ''),
    primary key (role, tenant)
);

create sequence wl_epoch;

-- state: 0 idle, 1 ready, 2 running, 3 waits for an answer, 4 paused, 5 poisoned, 6 closed
create table wl_session(
    tenant text not null,
    id bigint generated always as identity,
    project text not null,
    session text not null,
    agent text not null default '',
    agent_meta text not null default '',
    profile text not null default '',
    workspace text not null default '',
    needs jsonb not null default '{}',
    state smallint not null default 0,
    reason text not null default '',
    ready timestamptz not null default clock_timestamp(),
    attempts int not null default 0,
    claimed_seq bigint not null default -1,
    epoch bigint not null default 0,
    owner jsonb,
    lease_until timestamptz,
    seq bigint not null default 0,
    created timestamptz not null default clock_timestamp(),
    changed timestamptz not null default clock_timestamp(),
    primary key (tenant, id),
    unique (tenant, project, session, agent)
) with (fillfactor = 70);
create index wl_session_ready on wl_session(tenant, ready) where state in (1, 2);

-- One row for each batch that was written together. seq: bytes of the log up to the end of the batch.
create table wl_log(
    tenant text not null,
    id bigint not null,
    seq bigint not null,
    epoch bigint not null,
    ids text[] not null,
    body bytea not null,
    primary key (tenant, id, seq),
    foreign key (tenant, id) references wl_session(tenant, id) on delete cascade
);

create table wl_answer(
    tenant text not null,
    id bigint not null,
    question text not null,
    body jsonb not null,
    given timestamptz not null default clock_timestamp(),
    taken timestamptz,
    primary key (tenant, id, question),
    foreign key (tenant, id) references wl_session(tenant, id) on delete cascade
);

-- Tokens with which services of the tenant answer permission requests. The requests are in the logs.
create table wl_question(
    tenant text not null,
    id bigint not null,
    question text not null,
    token text not null,
    asked timestamptz not null default clock_timestamp(),
    primary key (tenant, id, question),
    foreign key (tenant, id) references wl_session(tenant, id) on delete cascade
);

-- kind: 0 prompt, 1 steer, 2 interrupt. entry: id of the log entry that takes the row; the append that writes it takes it.
create table wl_inbox(
    tenant text not null,
    id bigint not null,
    n bigint generated always as identity,
    key text not null,
    kind smallint not null,
    body jsonb not null,
    entry text not null,
    at timestamptz not null default clock_timestamp(),
    taken timestamptz,
    primary key (tenant, id, n),
    unique (tenant, id, key),
    foreign key (tenant, id) references wl_session(tenant, id) on delete cascade
);
create index wl_inbox_open on wl_inbox(tenant, id, n) where taken is null;

create function wl_open(
    p_tenant text, p_project text, p_session text, p_agent text, p_meta text, p_owner jsonb, p_term interval,
    out r_id bigint, out r_epoch bigint, out r_seq bigint, out r_owner jsonb
) language plpgsql as $$
begin
    insert into wl_session as s (tenant, project, session, agent, agent_meta, owner, epoch, lease_until)
    values (p_tenant, p_project, p_session, p_agent, p_meta, p_owner, nextval('wl_epoch'), clock_timestamp() + p_term)
    on conflict (tenant, project, session, agent) do update
    set epoch = excluded.epoch, owner = excluded.owner, lease_until = clock_timestamp() + p_term,
        agent_meta = case when s.seq = 0 then excluded.agent_meta else s.agent_meta end
    where s.owner is null or s.lease_until <= clock_timestamp()
    returning s.id, s.epoch, s.seq into r_id, r_epoch, r_seq;
    if not found then
        select s.owner into r_owner from wl_session s
        where s.tenant = p_tenant and s.project = p_project and s.session = p_session and s.agent = p_agent;
    end if;
end $$;

-- r_status: 0 written, 1 lease lost, 2 other position. A batch that was written before is written once.
create function wl_append(
    p_tenant text, p_id bigint, p_epoch bigint, p_expected bigint, p_ids text[], p_body bytea, p_durable boolean,
    out r_status int, out r_seq bigint
) language plpgsql as $$
declare
    s record;
    behind bigint := p_expected + length(p_body);
begin
    if not p_durable then
        perform set_config('synchronous_commit', 'off', true);
    end if;
    select epoch, seq, lease_until into s from wl_session where tenant = p_tenant and id = p_id for update;
    if not found or s.epoch <> p_epoch or s.lease_until is null or s.lease_until <= clock_timestamp() then
        r_status := 1;
        return;
    end if;
    r_seq := s.seq;
    if s.seq <> p_expected then
        if s.seq = behind and exists (
            select from wl_log
            where tenant = p_tenant and id = p_id and seq = behind and epoch = p_epoch and ids = p_ids
        ) then
            r_status := 0;
            -- The commit of this call makes the earlier one durable.
            update wl_session set changed = changed where tenant = p_tenant and id = p_id;
            return;
        end if;
        r_status := 2;
        return;
    end if;
    r_status := 0;
    if length(p_body) = 0 then
        update wl_session set changed = changed where tenant = p_tenant and id = p_id;
        return;
    end if;
    update wl_session set seq = behind, changed = clock_timestamp() where tenant = p_tenant and id = p_id;
    insert into wl_log (tenant, id, seq, epoch, ids, body) values (p_tenant, p_id, behind, p_epoch, p_ids, p_body);
    update wl_inbox set taken = clock_timestamp()
    where tenant = p_tenant and id = p_id and taken is null and entry = any(p_ids);
    r_seq := behind;
end $$;

-- p_state: the state of the session from now on; null leaves it. A session whose inbox has rows stays ready.
create function wl_release(p_tenant text, p_id bigint, p_epoch bigint, p_state smallint) returns boolean
language plpgsql as $$
declare
    is_waiting boolean := exists (
        select from wl_inbox where tenant = p_tenant and id = p_id and taken is null and kind <> 2
    );
begin
    update wl_session set owner = null, lease_until = null,
        state = case when p_state is null then state when p_state in (0, 3) and is_waiting then 1 else p_state end,
        ready = case when p_state is null then ready else clock_timestamp() end,
        attempts = case when p_state in (0, 3) then 0 else attempts end
    where tenant = p_tenant and id = p_id and epoch = p_epoch and owner is not null;
    if not found then
        return false;
    end if;
    delete from wl_session s where s.tenant = p_tenant and s.id = p_id and s.seq = 0
        and not exists (select from wl_inbox i where i.tenant = s.tenant and i.id = s.id);
    return true;
end $$;

-- Deletes a session with its agents, or one agent. r_owner: the owner of a lease, which keeps all.
create function wl_delete(p_tenant text, p_project text, p_session text, p_agent text, out r_owner jsonb)
language plpgsql as $$
begin
    perform from wl_session s where s.tenant = p_tenant and s.project = p_project and s.session = p_session
        and (p_agent = '' or s.agent = p_agent) for update;
    select s.owner into r_owner from wl_session s
    where s.tenant = p_tenant and s.project = p_project and s.session = p_session
        and (p_agent = '' or s.agent = p_agent) and s.owner is not null and s.lease_until > clock_timestamp() limit 1;
    if found then
        return;
    end if;
    delete from wl_session s where s.tenant = p_tenant and s.project = p_project and s.session = p_session
        and (p_agent = '' or s.agent = p_agent);
end $$;

-- Stores an answer. r_status: 0 stored, 1 there is one already, 2 no such session. A session that waits is ready.
create function wl_give(
    p_tenant text, p_project text, p_session text, p_agent text, p_question text, p_body jsonb, out r_status int
) language plpgsql as $$
begin
    insert into wl_answer (tenant, id, question, body)
    select s.tenant, s.id, p_question, p_body from wl_session s
    where s.tenant = p_tenant and s.project = p_project and s.session = p_session and s.agent = p_agent
    on conflict do nothing;
    if found then
        r_status := 0;
        update wl_session s set state = 1, ready = clock_timestamp()
        where s.tenant = p_tenant and s.project = p_project and s.session = p_session and s.agent = '' and s.state = 3;
        return;
    end if;
    perform from wl_session s
    where s.tenant = p_tenant and s.project = p_project and s.session = p_session and s.agent = p_agent;
    r_status := case when found then 1 else 2 end;
end $$;

-- Puts a message into an inbox. r_status: 0 stored, 1 the same message was stored before, 2 another message has the key,
-- 3 no such session.
create function wl_send(
    p_tenant text, p_project text, p_session text, p_key text, p_kind smallint, p_body jsonb,
    out r_status int, out r_n bigint
) language plpgsql as $$
declare
    s_id bigint;
    other record;
begin
    select s.id into s_id from wl_session s
    where s.tenant = p_tenant and s.project = p_project and s.session = p_session and s.agent = '';
    if not found then
        r_status := 3;
        return;
    end if;
    insert into wl_inbox (tenant, id, key, kind, body, entry)
    values (p_tenant, s_id, p_key, p_kind, p_body, gen_random_uuid()::text)
    on conflict do nothing returning n into r_n;
    if found then
        r_status := 0;
        update wl_session set state = 1, ready = clock_timestamp()
        where tenant = p_tenant and id = s_id and state in (0, 3) and p_kind <> 2;
        return;
    end if;
    select n, kind, body into other from wl_inbox where tenant = p_tenant and id = s_id and key = p_key;
    r_n := other.n;
    r_status := case when other.kind = p_kind and other.body = p_body then 1 else 2 end;
end $$;

-- Claims sessions that are ready, and those whose owner is gone. One that was claimed three times without an entry in
-- between is poisoned.
create function wl_claim(
    p_tenant text, p_profiles text[], p_workspaces text[], p_most int, p_owner jsonb, p_term interval
) returns table (
    r_id bigint, r_epoch bigint, r_seq bigint, r_project text, r_session text, r_profile text, r_workspace text,
    r_needs jsonb, r_attempts int
) language plpgsql as $$
begin
    update wl_session s set state = 5, owner = null, lease_until = null,
        reason = 'three workers ended while they ran it, without an entry in between'
    where s.id in (
        select t.id from wl_session t
        where t.tenant = p_tenant and t.state = 2 and t.agent = '' and t.attempts >= 3 and t.seq <= t.claimed_seq
            and (t.owner is null or t.lease_until <= clock_timestamp())
        for update skip locked
    ) and s.tenant = p_tenant;
    return query
    update wl_session s set owner = p_owner, epoch = nextval('wl_epoch'), lease_until = clock_timestamp() + p_term,
        state = 2, attempts = case when s.seq > s.claimed_seq then 1 else s.attempts + 1 end, claimed_seq = s.seq
    from (
        select t.id from wl_session t
        where t.tenant = p_tenant and t.state in (1, 2) and t.agent = ''
            and (t.owner is null or t.lease_until <= clock_timestamp())
            and t.profile = any(p_profiles) and t.workspace = any(p_workspaces)
        order by t.ready limit p_most for update skip locked
    ) picked
    where s.tenant = p_tenant and s.id = picked.id
    returning s.id, s.epoch, s.seq, s.project, s.session, s.profile, s.workspace, s.needs, s.attempts;
end $$;

create function wl_renew(p_tenant text, p_ids bigint[], p_epochs bigint[], p_term interval) returns setof bigint
language sql as $$
    update wl_session s set lease_until = clock_timestamp() + p_term
    from unnest(p_ids, p_epochs) as lease(id, epoch)
    where s.tenant = p_tenant and s.id = lease.id and s.epoch = lease.epoch
        and s.owner is not null and s.lease_until > clock_timestamp()
    returning s.id
$$;

do $$
declare
    t text;
begin
    -- Roles belong to all databases of the server, and another one may be migrated at the same time.
    foreach t in array array['windlass_worker', 'windlass_service'] loop
        begin
            execute format('create role %I nologin', t);
        exception when duplicate_object or unique_violation then null;
        end;
    end loop;
    foreach t in array array['wl_session', 'wl_log', 'wl_answer', 'wl_question', 'wl_inbox'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format(
            'create policy tenant on %I using (tenant = current_setting(''windlass.tenant'', true) and exists ('
            || 'select from wl_member m where m.role = session_user and m.tenant = current_setting(''windlass.tenant'', true)))', t);
    end loop;
end $$;

grant select on wl_member, wl_schema to windlass_worker, windlass_service;
grant select, insert, update, delete on wl_session, wl_log, wl_answer, wl_question, wl_inbox to windlass_worker;
grant usage on sequence wl_epoch to windlass_worker;
grant select on wl_session, wl_log, wl_answer, wl_question, wl_inbox to windlass_service;
grant insert (tenant, project, session, profile, workspace, needs, state) on wl_session to windlass_service;
grant update (state, ready) on wl_session to windlass_service;
grant insert on wl_inbox, wl_answer to windlass_service;
