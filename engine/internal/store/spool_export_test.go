package store

// SetSpoolQuota lets tests fill a spool.
func SetSpoolQuota(s *Spool, bytes int64) { s.max = bytes }
