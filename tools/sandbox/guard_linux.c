//go:build linux && cgo

// The guard of a command. The bot starts its own program again under the name
// klawbot-guard. There the constructor at the end of this file runs instead of Go,
// which would take many times as long to get ready. It leaves two guards behind, does
// what the bot asks for (guard_linux.go) and becomes the command:
//
//	bot -> guard -> guard -> command
//
// The guards are subreapers: whatever a command does, every process that comes from
// it stays below them. They are not confined. A guard ends everything below it when
// the command has ended, when the bot asks for it (SIGTERM), and when the process
// above it is gone. SIGUSR1 makes the guards ask the command to end. There are two
// because a command outside a sandbox may kill the one above it: the other one then
// sees its only child end. A command in a sandbox can signal neither.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The descriptors that the bot hands over, and what it knows the exit codes by
// (guard_linux.go).
enum { WORDS = 3, REPORT = 4, FILTER = 5, RULESET = 6, LAST_HANDED = RULESET };
enum { NOT_STARTED = 126, KILLED = 128 + SIGKILL };

// The number of landlock_restrict_self, which older headers lack, and how many
// instructions the kernel takes in a filter.
enum { RESTRICT_SELF = 446, MOST_CODE = 4096 };

// fail ends a program that cannot become the command. It tells the bot why, or writes
// it where the command would write.
static void fail(const char *what) {
	int why = errno;
	if (write(REPORT, &why, sizeof why) != sizeof why)
		dprintf(STDERR_FILENO, "sandbox: %s: %s\n", what, strerror(why));
	_exit(NOT_STARTED);
}

// Every process id of Linux is below PIDS. No machine of a bot runs as many processes
// as MOST. After ROUNDS, of a millisecond or more, what the kernel has not ended
// (it waits for a disk) is left to it.
enum { PIDS = 1 << 22, MOST = 1 << 16, ROUNDS = 5000 };

// parent_of is the parent of a process that runs, 0 for one that has exited.
static pid_t parent_of(pid_t pid) {
	char path[32], text[512], state;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	pid_t parent;
	char *end = strrchr(text, ')'); // the name may hold anything
	return end && sscanf(end + 1, " %c %d", &state, &parent) == 2 && state != 'Z' && state != 'X' ? parent : 0;
}

// kill_below kills the processes below this one that there are now. It stops them
// first, so that they fork no more. It returns 0 when all that is left belongs to
// other users.
static int kill_below(void) {
	static struct { pid_t pid, parent; } all[MOST];
	static char below[PIDS]; // by process id; no mark outlives the call
	int n = 0;
	DIR *proc = opendir("/proc");
	for (struct dirent *e; proc && (e = readdir(proc)) && n < MOST;) {
		pid_t pid = atoi(e->d_name), parent = pid > 0 && pid < PIDS ? parent_of(pid) : 0;
		if (parent > 0) {
			all[n].pid = pid;
			all[n++].parent = parent;
		}
	}
	if (proc)
		closedir(proc);
	below[getpid()] = 1;
	for (int more = 1; more;) {
		more = 0;
		for (int i = 0; i < n; i++)
			if (!below[all[i].pid] && below[all[i].parent])
				below[all[i].pid] = more = 1;
	}
	below[getpid()] = 0;
	int sent = 0, refused = 0;
	for (int i = 0; i < n; i++)
		if (below[all[i].pid]) {
			kill(-all[i].pid, SIGKILL); // a group at once: one that forks fast is not outrun
			kill(all[i].pid, SIGSTOP);
		}
	for (int i = 0; i < n; i++) {
		if (below[all[i].pid] && kill(all[i].pid, SIGKILL) == 0)
			sent++;
		else if (below[all[i].pid] && errno == EPERM)
			refused++;
		below[all[i].pid] = 0;
	}
	return sent > 0 || refused == 0;
}

// end_all kills everything below this process, until there is nothing, and ends.
static void end_all(int code) {
	for (int round = 0; round < ROUNDS; round++) {
		pid_t gone;
		while ((gone = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
			;
		if (gone < 0 || !kill_below())
			break; // no child is left
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	_exit(code);
}

// reap takes the exit codes of the processes that have exited. It returns that of the
// child, as a shell says it, and -1 while the child runs.
static int reap(pid_t child) {
	int code = -1, status;
	for (pid_t gone; (gone = waitpid(-1, &status, WNOHANG | __WALL)) > 0;)
		if (gone == child)
			code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return code;
}

// guard leaves this process behind as a guard. It returns in a child, to which SIGUSR1 is
// handed on as the signal gentle. No signal but SIGTERM may end a guard. The kernel itself
// sends SIGHUP: to the guards' process group, when the bot exits while one guard has just
// stopped the other.
static void guard(int gentle) {
	sigset_t wanted, every, before;
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGUSR1);
	sigfillset(&every);
	sigprocmask(SIG_BLOCK, &every, &before);
	signal(SIGCHLD, SIG_DFL); // ignored, it would take the exit codes away
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		fail("subreaper");
	pid_t self = getpid(), child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
		if (getppid() != self)
			_exit(NOT_STARTED);
		sigprocmask(SIG_SETMASK, &before, NULL);
		return;
	}
	for (int fd = 0; fd <= LAST_HANDED; fd++)
		close(fd); // the command's pipes end with the command
	for (;;) {
		int came = sigwaitinfo(&wanted, NULL), code = came == SIGTERM ? KILLED : reap(child);
		if (came == SIGUSR1 && code < 0)
			kill(child, gentle);
		if (code >= 0)
			end_all(code);
	}
}

// words is where the bot's next word begins.
static char *words;

static char *word(void) {
	char *w = words;
	words += strlen(w) + 1;
	return w;
}

static unsigned long long number(void) { return strtoull(word(), NULL, 10); }

// join enters a cgroup.
static void join(const char *file) {
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		fail(file);
	close(fd);
}

// lower lowers a limit, and never raises it.
static void lower(int resource, rlim_t value) {
	struct rlimit now;
	if (getrlimit(resource, &now) != 0)
		fail("limit");
	if (value > now.rlim_max)
		value = now.rlim_max;
	now.rlim_cur = now.rlim_max = value;
	if (setrlimit(resource, &now) != 0)
		fail("limit");
}

// use_cores keeps to the first of the processors.
static void use_cores(int n) {
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) != 0)
		fail("processors");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && n-- <= 0)
			CPU_CLR(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		fail("processors");
}

// confine keeps to the ruleset of Landlock and to the filter of system calls, and
// takes from root what it is beyond its files.
static void confine(void) {
	static struct sock_filter code[MOST_CODE];
	ssize_t have = read(FILTER, code, sizeof code); // of a file in memory, in one go
	if (have <= 0)
		fail("no filter");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		fail("no_new_privs");
	if (syscall(RESTRICT_SELF, RULESET, 0) != 0)
		fail("landlock");
	for (int c = 0; c < 64; c++)
		prctl(PR_CAPBSET_DROP, c, 0, 0, 0); // only root has any
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	struct sock_fprog filter = {have / sizeof *code, code};
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
		fail("seccomp");
	close(RULESET);
	close(FILTER);
}

// become does what the words say up to an empty one, and becomes the command of the
// rest: its program and its arguments. The bot puts the limit of memory last, because
// this program has more.
static void become(const char *end) {
	int most = 1;
	for (const char *c = words; c < end; c++)
		most += *c == 0;
	char **argv = calloc(most, sizeof *argv);
	if (argv == NULL)
		fail("arguments");
	for (char *what; *(what = word());) {
		if (strcmp(what, "join") == 0) {
			join(word());
		} else if (strcmp(what, "cores") == 0) {
			use_cores(number());
		} else if (strcmp(what, "confine") == 0) {
			confine();
		} else { // limit
			int resource = number();
			lower(resource, number());
		}
	}
	char *program = word();
	for (int i = 0; words < end; i++)
		argv[i] = word();
	execve(program, argv, environ);
	fail(program);
}

__attribute__((constructor)) static void begin(void) {
	if (strcmp(program_invocation_name, "klawbot-guard") != 0)
		return;
	fcntl(REPORT, F_SETFD, FD_CLOEXEC); // there may be none
	struct stat s;
	if (fstat(WORDS, &s) != 0 || (words = mmap(NULL, s.st_size, PROT_READ, MAP_PRIVATE, WORDS, 0)) == MAP_FAILED)
		fail("no command");
	close(WORDS);
	guard(SIGUSR1);
	guard(SIGTERM);
	setsid(); // no terminal
	become(words + s.st_size);
}
