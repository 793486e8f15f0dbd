//! Keeper of one program: its parent process, which adopts all orphans of the program, whatever marks they drop.
//!
//! A subreaper is a process, and a host must not become one. So each program of windlass is started by a keeper of its
//! own, which the build script makes for x86-64 and ARM64 without any library. The keeper reports the program's start
//! and end to the host over the descriptor 3, ends with the last process below it, and ends all of them when the host
//! is gone.
//!
//! Arguments: `keeper-` with a letter for each option, `T` for a program whose input is to be its terminal, `R` for a
//! read-only program; the path; the arguments of the program. Messages, two numbers of 32 bits: 0 and the number of the
//! process, or the error and 0; later 1 and its wait status. A byte from the host lets the program outlive it.
#![no_std]
#![no_main]

use core::arch::{asm, global_asm};
use core::ptr;

#[cfg(target_arch = "x86_64")]
global_asm!(".globl _start", "_start:", "mov rdi, rsp", "and rsp, -16", "call {main}", "ud2", main = sym main);
#[cfg(target_arch = "aarch64")]
global_asm!(".globl _start", "_start:", "mov x0, sp", "bl {main}", "brk #1", main = sym main);

/// Numbers of the system calls.
#[cfg(target_arch = "x86_64")]
mod number {
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const IOCTL: usize = 16;
    pub const SIGPROCMASK: usize = 14;
    pub const CLONE: usize = 56;
    pub const EXECVE: usize = 59;
    pub const EXIT: usize = 231;
    pub const WAIT4: usize = 61;
    pub const KILL: usize = 62;
    pub const FCNTL: usize = 72;
    pub const SETSID: usize = 112;
    pub const PRCTL: usize = 157;
    pub const GETPID: usize = 39;
    pub const OPENAT: usize = 257;
    pub const PPOLL: usize = 271;
    pub const PRLIMIT64: usize = 302;
    pub const SIGNALFD4: usize = 289;
    pub const PIPE2: usize = 293;
}

#[cfg(target_arch = "aarch64")]
mod number {
    pub const READ: usize = 63;
    pub const WRITE: usize = 64;
    pub const CLOSE: usize = 57;
    pub const IOCTL: usize = 29;
    pub const SIGPROCMASK: usize = 135;
    pub const CLONE: usize = 220;
    pub const EXECVE: usize = 221;
    pub const EXIT: usize = 94;
    pub const WAIT4: usize = 260;
    pub const KILL: usize = 129;
    pub const FCNTL: usize = 25;
    pub const SETSID: usize = 157;
    pub const PRCTL: usize = 167;
    pub const GETPID: usize = 172;
    pub const OPENAT: usize = 56;
    pub const PPOLL: usize = 73;
    pub const PRLIMIT64: usize = 261;
    pub const SIGNALFD4: usize = 74;
    pub const PIPE2: usize = 59;
}

/// The socket to the host.
const HOST: usize = 3;
const CLOEXEC: usize = 0o2_000_000;
const NONBLOCK: usize = 0o4_000;
const SIGKILL: usize = 9;
const SIGTERM: usize = 15;
const SIGCHLD: usize = 17;
const SIGCONT: usize = 18;
const WNOHANG: usize = 1;
const INTR: isize = -4;
const CHILD: isize = -10;
/// Time between the request to end and the kill, in nanoseconds.
const GRACE: i64 = 300_000_000;
const CURRENT_DIRECTORY: usize = -100_isize as usize;
/// Maximum memory of a read-only program, in bytes: its own, not that of mapped files.
const MOST_MEMORY: u64 = 4 << 30;

/// Makes a system call.
#[cfg(target_arch = "x86_64")]
fn call(number: usize, words: [usize; 5]) -> isize {
    let [a, b, c, d, e] = words;
    let result: isize;
    // SAFETY: the callers pass memory of this process that lives during the call. The kernel changes `rcx` and `r11`
    // alone.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => result, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
            in("r8") e, in("r9") 0, lateout("rcx") _, lateout("r11") _);
    }
    result
}

#[cfg(target_arch = "aarch64")]
fn call(number: usize, words: [usize; 5]) -> isize {
    let [a, b, c, d, e] = words;
    let result: isize;
    // SAFETY: the callers pass memory of this process that lives during the call.
    unsafe {
        asm!("svc 0", in("x8") number, inlateout("x0") a => result, in("x1") b, in("x2") c, in("x3") d, in("x4") e,
            in("x5") 0);
    }
    result
}

fn exit(code: usize) -> ! {
    loop {
        call(number::EXIT, [code, 0, 0, 0, 0]);
    }
}

fn kill(pid: isize, signal: usize) {
    call(number::KILL, [pid as usize, signal, 0, 0, 0]);
}

fn report(first: i32, second: i32) {
    let message = [first, second];
    call(number::WRITE, [HOST, ptr::from_ref(&message) as usize, 8, 0, 0]);
}

fn set_signals_blocked(mask: u64) {
    const SETMASK: usize = 2;
    call(number::SIGPROCMASK, [SETMASK, ptr::from_ref(&mask) as usize, 0, 8, 0]);
}

fn close(descriptor: usize) {
    call(number::CLOSE, [descriptor, 0, 0, 0, 0]);
}

/// `stack`: the number of words, then the words and the variables as the kernel leaves them for a new program.
extern "C" fn main(stack: *const usize) -> ! {
    // SAFETY: the kernel has put this there: a count, so many texts, a null pointer, texts, and a null pointer.
    let (count, words) = unsafe { (*stack, stack.add(1)) };
    if count < 3 {
        exit(127);
    }
    let variables = words.wrapping_add(count + 1);
    const SET_CHILD_SUBREAPER: usize = 36;
    const SETFD: usize = 2;
    const SET_NAME: usize = 15;
    call(number::PRCTL, [SET_CHILD_SUBREAPER, 1, 0, 0, 0]);
    call(number::PRCTL, [SET_NAME, c"windlass-keeper".as_ptr() as usize, 0, 0, 0]);
    call(number::FCNTL, [HOST, SETFD, 1, 0, 0]);
    set_signals_blocked(u64::MAX);
    let mut pipe = [0_i32; 2];
    let children: u64 = 1 << (SIGCHLD - 1);
    let mask = ptr::from_ref(&children) as usize;
    let signals = call(number::SIGNALFD4, [usize::MAX, mask, 8, CLOEXEC | NONBLOCK, 0]);
    let piped = call(number::PIPE2, [ptr::from_mut(&mut pipe) as usize, CLOEXEC, 0, 0, 0]);
    // Without a message of the keeper the host starts the program itself.
    if signals < 0 || piped < 0 {
        exit(127);
    }
    let program = call(number::CLONE, [SIGCHLD, 0, 0, 0, 0]);
    if program == 0 {
        become_program(words, variables, pipe[1] as usize);
    }
    if program < 0 {
        exit(127);
    }
    close(pipe[1] as usize);
    forget(variables);
    forget(words.wrapping_add(1));
    let mut error = 0_i32;
    let failed = loop {
        let read = call(number::READ, [pipe[0] as usize, ptr::from_mut(&mut error) as usize, 4, 0, 0]);
        if read != INTR {
            break read == 4;
        }
    };
    if failed {
        refuse(error as isize);
    }
    close(pipe[0] as usize);
    report(0, program as i32);
    // Readers of the program's output wait for its end.
    (0..3).for_each(close);
    keep(program, signals as usize)
}

/// Reports that the program was not started. `error`: below zero.
fn refuse(error: isize) -> ! {
    report((-error) as i32, 0);
    exit(127)
}

fn become_program(words: *const usize, variables: *const usize, errors: usize) -> ! {
    const SET_TERMINAL: usize = 0x540e;
    const DROP_FROM_BOUNDING_SET: usize = 24;
    const SYS_PTRACE: usize = 19;
    call(number::SETSID, [0; 5]);
    // SAFETY: there are at least three words, and each is a text that ends with a null byte; `main` has counted them.
    let (mut name, path) = unsafe { (*words as *const u8, *words.add(1)) };
    loop {
        // SAFETY: as above; the loop ends at the null byte.
        let letter = unsafe { name.read() };
        match letter {
            0 => break,
            b'T' => {
                call(number::IOCTL, [0, SET_TERMINAL, 0, 0, 0]);
            }
            b'R' => bound_memory(),
            _ => {}
        }
        name = name.wrapping_add(1);
    }
    // A program of root could read the variables and the memory of the host, which may hold keys. For others this
    // fails, and they have no such right.
    call(number::PRCTL, [DROP_FROM_BOUNDING_SET, SYS_PTRACE, 0, 0, 0]);
    set_signals_blocked(0);
    let error = call(number::EXECVE, [path, words.wrapping_add(2) as usize, variables as usize, 0, 0]) as i32;
    call(number::WRITE, [errors, ptr::from_ref(&error) as usize, 4, 0, 0]);
    exit(127)
}

/// Limits the memory of a read-only program, and has the system kill it first when memory runs out.
fn bound_memory() {
    const RLIMIT_DATA: usize = 2;
    const WRITE_ONLY: usize = 1;
    let limit = [MOST_MEMORY, MOST_MEMORY];
    call(number::PRLIMIT64, [0, RLIMIT_DATA, ptr::from_ref(&limit) as usize, 0, 0]);
    let path = c"/proc/self/oom_score_adj".as_ptr() as usize;
    let file = call(number::OPENAT, [CURRENT_DIRECTORY, path, WRITE_ONLY | CLOEXEC, 0, 0]);
    call(number::WRITE, [file as usize, c"1000".as_ptr() as usize, 4, 0, 0]);
}

/// Overwrites texts that now belong to the program: a keeper must not pass for it by a mark or a name, nor show its
/// secrets.
fn forget(mut texts: *const usize) {
    // SAFETY: as in `main`: a list of texts that ends with a null pointer, and texts that end with a null byte. The
    // kernel has made both for this process alone, which may write there.
    unsafe {
        while *texts != 0 {
            let mut at = *texts as *mut u8;
            while *at != 0 {
                at.write_volatile(0);
                at = at.add(1);
            }
            texts = texts.add(1);
        }
    }
}

#[repr(C)]
struct Poll {
    descriptor: i32,
    wanted: i16,
    got: i16,
}

#[repr(C)]
struct Time {
    seconds: i64,
    nanoseconds: i64,
}

/// Waits for a child, and for the host if `host`, or for `nanoseconds`. Returns `true` if the host is gone or has sent
/// a byte.
fn wait(signals: usize, host: bool, nanoseconds: Option<i64>) -> bool {
    const IN: i16 = 1;
    let mut polls = [
        Poll { descriptor: signals as i32, wanted: IN, got: 0 },
        Poll { descriptor: if host { HOST as i32 } else { -1 }, wanted: IN, got: 0 },
    ];
    let time = Time { seconds: 0, nanoseconds: nanoseconds.unwrap_or(0) };
    let limit = if nanoseconds.is_some() { ptr::from_ref(&time) as usize } else { 0 };
    call(number::PPOLL, [ptr::from_mut(&mut polls) as usize, 2, limit, 0, 8]);
    let mut noted = [0_u8; 128];
    while call(number::READ, [signals, ptr::from_mut(&mut noted) as usize, 128, 0, 0]) == 128 {}
    polls[1].got != 0
}

/// Nanoseconds until the system is asked again for the ends of children, after it has refused to report them.
const RETRY: i64 = 10_000_000;

/// Takes the ends of all children that have ended. Ends with the last one. `program` is set to zero once it has ended,
/// because its number may belong to another process then. Returns `true` if the system refused to report.
fn reap(program: &mut isize) -> bool {
    loop {
        let mut status = 0_i32;
        let ended = call(number::WAIT4, [usize::MAX, ptr::from_mut(&mut status) as usize, WNOHANG, 0, 0]);
        match ended {
            0 => return false,
            CHILD if *program == 0 => exit(0),
            ..0 => return true,
            _ if ended == *program => {
                *program = 0;
                report(1, status);
            }
            _ => {}
        }
    }
}

fn keep(mut program: isize, signals: usize) -> ! {
    let mut host = true;
    loop {
        // The signal of an unreported end is gone, so nothing but time wakes the keeper.
        let again = reap(&mut program).then_some(RETRY);
        if wait(signals, host, again) {
            let mut word = 0_u8;
            if call(number::READ, [HOST, ptr::from_mut(&mut word) as usize, 1, 0, 0]) != 1 {
                break;
            }
            host = false;
        }
    }
    // The children of the program belong to the keeper once it has ended.
    signal_children(program, SIGTERM);
    signal_children(program, SIGCONT);
    let mut left = GRACE;
    while left > 0 {
        const STEP: i64 = 10_000_000;
        reap(&mut program);
        wait(signals, false, Some(STEP));
        left -= STEP;
    }
    loop {
        signal_children(program, SIGKILL);
        reap(&mut program);
        wait(signals, false, Some(2_000_000));
    }
}

/// Signals each child and the group that it leads. Without a list of children, which few kernels lack, signals the
/// group of the program.
fn signal_children(program: isize, signal: usize) {
    let mut path = *b"/proc/self/task/0000000000\0children\0";
    let mut number = call(number::GETPID, [0; 5]) as usize;
    let mut digits = [0_u8; 10];
    let mut length = 0;
    while number > 0 && length < 10 {
        digits[length] = b'0' + (number % 10) as u8;
        number /= 10;
        length += 1;
    }
    let mut at = 16;
    for digit in digits[..length].iter().rev() {
        path[at] = *digit;
        at += 1;
    }
    for byte in b"/children\0" {
        path[at] = *byte;
        at += 1;
    }
    let list = call(number::OPENAT, [CURRENT_DIRECTORY, ptr::from_ref(&path) as usize, CLOEXEC, 0, 0]);
    if program > 0 {
        kill(-program, signal);
    }
    if list < 0 {
        return;
    }
    let mut text = [0_u8; 4096];
    let mut child = 0_isize;
    loop {
        let read = call(number::READ, [list as usize, ptr::from_mut(&mut text) as usize, 4096, 0, 0]);
        if read <= 0 {
            break;
        }
        for byte in &text[..read as usize] {
            match byte {
                b'0'..=b'9' => child = child * 10 + isize::from(byte - b'0'),
                _ if child > 1 => {
                    kill(child, signal);
                    kill(-child, signal);
                    child = 0;
                }
                _ => child = 0,
            }
        }
    }
    close(list as usize);
}

/// C functions that the compiler and the core library reference.
mod named {
    #[unsafe(no_mangle)]
    extern "C" fn memset(memory: *mut u8, byte: i32, count: usize) -> *mut u8 {
        for at in 0..count {
            // SAFETY: the caller owns so many bytes there.
            unsafe { memory.add(at).write_volatile(byte as u8) };
        }
        memory
    }

    #[unsafe(no_mangle)]
    extern "C" fn memcpy(memory: *mut u8, from: *const u8, count: usize) -> *mut u8 {
        for at in 0..count {
            // SAFETY: the caller owns so many bytes at both places.
            unsafe { memory.add(at).write_volatile(from.add(at).read()) };
        }
        memory
    }

    /// Referenced by unwinding code of the core library that is never reached: a panic ends the process.
    #[unsafe(no_mangle)]
    extern "C" fn rust_eh_personality() {}
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    exit(126)
}
