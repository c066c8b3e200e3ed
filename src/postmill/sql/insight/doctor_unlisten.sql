-- Hear no more of it.
unlisten {schema}_doctor
