-- A channel of the doctor's own: nobody else is woken.
listen {schema}_doctor
