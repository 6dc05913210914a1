package outbox

// SetQuota lets tests fill the folder.
func SetQuota(s *SentFiles, bytes int64) { s.max = bytes }
