package sentfiles

// SetQuota lets tests fill the folder.
func SetQuota(s *Files, bytes int64) { s.quota = bytes }
