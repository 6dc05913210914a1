package exec

import "syscall"

// ctime is when the file or what is known of it was changed last.
func ctime(s *syscall.Stat_t) syscall.Timespec { return s.Ctim }
