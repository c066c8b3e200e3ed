select id from inbound_mail where digest = %(digest)s
