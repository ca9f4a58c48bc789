package delivery

// LookNow has every channel look for what is due. Without it a channel looks when the time that it read has passed.
func (s *Service) LookNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.of {
		w.wakeLanes()
	}
}
