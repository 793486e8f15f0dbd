-- A session may need programs of a version: `needs.version`, one without it. A connection says the version of its program in
-- `windlass.version`, and older programs claim what needs no more than they have.

create or replace function wl_claim(
    p_tenant text, p_profiles text[], p_workspaces text[], p_most int, p_owner jsonb, p_term interval
) returns table (
    r_id bigint, r_epoch bigint, r_seq bigint, r_project text, r_session text, r_profile text, r_workspace text,
    r_needs jsonb, r_attempts int
) language plpgsql as $$
declare
    p_version int := coalesce(nullif(current_setting('windlass.version', true), '')::int, 1);
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
            and case jsonb_typeof(t.needs -> 'version')
                when 'number' then (t.needs ->> 'version')::numeric else 1 end <= p_version
        order by t.ready limit p_most for update skip locked
    ) picked
    where s.tenant = p_tenant and s.id = picked.id
    returning s.id, s.epoch, s.seq, s.project, s.session, s.profile, s.workspace, s.needs, s.attempts;
end $$;
