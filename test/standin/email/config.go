package email

import (
	"context"
	"os/exec"
	"strings"
	"text/template"
)

// eximConfig configures a server that accepts mails for [Domain] from any
// sender, and mails for other domains from users who sign in. As a mail server
// must, it removes any Authentication-Results in the mail and writes its own
// results.
var eximConfig = template.Must(template.New("exim").Parse(`
primary_hostname = {{.Host}}
spool_directory = {{.Dir}}/spool
log_file_path = {{.Dir}}/log/exim.%slog
pid_file_path = {{.Dir}}/run/exim.pid
local_interfaces = 127.0.0.1.{{.SMTP}} : 127.0.0.1.{{.SMTPS}}
daemon_smtp_ports = {{.SMTP}}
tls_on_connect_ports = {{.SMTPS}}
tls_advertise_hosts = *
tls_certificate = {{.Dir}}/cert.pem
tls_privatekey = {{.Dir}}/key.pem
deliver_drop_privilege = true
keep_environment =
exim_user = {{.User}}
exim_group = {{.Group}}
never_users =
acl_smtp_rcpt = rcpt
acl_smtp_data = data
smtp_accept_max = 100
smtp_enforce_sync = false
queue_run_max = 2
log_selector = -queue_run
bounce_return_message = true

begin acl
rcpt:
  deny   local_parts = gone
         message = no such person here
  defer  local_parts = slow
         message = come back later
  accept authenticated = *
  accept domains = {{.Domain}}
  deny   message = relay not permitted
data:
  warn   remove_header = Authentication-Results
{{- if .Authenticate}}
  warn   add_header = :at_start:${authresults {{"{"}}{{.Host}}}}
{{- end}}
  accept

begin routers
full:
  driver = redirect
  local_parts = full
  allow_fail
  data = :fail: the mailbox is full
local:
  driver = manualroute
  domains = {{.Domain}}
  local_part_suffix = +*
  local_part_suffix_optional
  route_list = * 127.0.0.1 byname
  self = send
  transport = mailbox

begin transports
mailbox:
  driver = smtp
  protocol = lmtp
  port = {{.LMTP}}
  allow_localhost
  rcpt_include_affixes
  hosts_try_fastopen =
  hosts_avoid_tls = *

begin retry
* * F,1h,1s

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${if eq{$auth3}{{"{"}}{{.Password}}}}
  server_set_id = $auth2
  server_advertise_condition = yes
login:
  driver = plaintext
  public_name = LOGIN
  server_prompts = Username:: : Password::
  server_condition = ${if eq{$auth2}{{"{"}}{{.Password}}}}
  server_set_id = $auth1
  server_advertise_condition = yes
`))

// dovecotConfig configures mailboxes for every name, without root. It is
// written for Dovecot 2.3 and for 2.4, which have different languages.
var dovecotConfig = template.Must(template.New("dovecot").Parse(`
base_dir = {{.Dir}}/run
state_dir = {{.Dir}}/state
log_path = {{.Dir}}/log/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
default_internal_user = {{.User}}
default_internal_group = {{.Group}}
default_login_user = {{.User}}
first_valid_uid = 1
first_valid_gid = 1
disable_plaintext_auth = no
auth_failure_delay = 0
ssl = yes
ssl_cert = <{{.Dir}}/cert.pem
ssl_key = <{{.Dir}}/key.pem
mail_location = maildir:{{.Dir}}/mail/%Ln
auth_username_format = %Ln
recipient_delimiter = +
lmtp_save_to_detail_mailbox = no
lda_mailbox_autocreate = yes
mail_max_userip_connections = 100
{{- if .NoIdle}}
imap_capability = IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE LITERAL+ UIDPLUS MOVE NAMESPACE
{{- end}}
passdb {
  driver = static
  args = password={{.Password}}
}
userdb {
  driver = static
  args = uid={{.User}} gid={{.Group}} home={{.Dir}}/mail/%Ln allow_all_users=yes
}
namespace inbox {
  inbox = yes
}
service imap-login {
  chroot =
  inet_listener imap {
    port = {{.IMAP}}
  }
  inet_listener imaps {
    port = {{.IMAPS}}
    ssl = yes
  }
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = {{.LMTP}}
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
`))

var dovecot24Config = template.Must(template.New("dovecot24").Parse(`
dovecot_config_version = 2.4.0
dovecot_storage_version = 2.4.0
base_dir = {{.Dir}}/run
state_dir = {{.Dir}}/state
log_path = {{.Dir}}/log/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
default_internal_user = {{.User}}
default_internal_group = {{.Group}}
default_login_user = {{.User}}
first_valid_uid = 1
first_valid_gid = 1
auth_allow_cleartext = yes
auth_failure_delay = 0
ssl = yes
ssl_server_cert_file = {{.Dir}}/cert.pem
ssl_server_key_file = {{.Dir}}/key.pem
mail_driver = maildir
mail_path = {{.Dir}}/mail/%{user | username | lower}
auth_username_format = %{user | username | lower}
recipient_delimiter = +
lmtp_save_to_detail_mailbox = no
mail_max_userip_connections = 100
{{- if .NoIdle}}
imap_capability {
  IDLE = no
}
{{- end}}
passdb static {
  password = {{.Password}}
}
userdb static {
  allow_all_users = yes
  fields {
    uid = {{.User}}
    gid = {{.Group}}
    home = {{.Dir}}/mail/%{user | username | lower}
  }
}
namespace inbox {
  inbox = yes
}
service imap-login {
  chroot =
  inet_listener imap {
    port = {{.IMAP}}
  }
  inet_listener imaps {
    port = {{.IMAPS}}
    ssl = yes
  }
}
service lmtp {
  inet_listener lmtp {
    listen = 127.0.0.1
    port = {{.LMTP}}
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
`))

type settings struct {
	Dir, Domain, Host, Password, User, Group string
	SMTP, SMTPS, IMAP, IMAPS, LMTP           int
	NoIdle, Authenticate                     bool
}

func (s *Server) settings(group string) settings {
	return settings{
		Dir: s.dir, Domain: Domain, Host: Host, Password: Password, User: s.owner.Username, Group: group,
		SMTP: s.ports.smtp, SMTPS: s.ports.smtps, IMAP: s.ports.imap, IMAPS: s.ports.imaps, LMTP: s.ports.lmtp,
		NoIdle: s.options.NoIdle, Authenticate: !s.options.NoAuthentication,
	}
}

func (s *Server) eximConfig(group string) string { return s.fill(eximConfig, group) }

func (s *Server) dovecotConfig(group string) string {
	version, err := exec.CommandContext(context.Background(), dovecot(), "--version").Output()
	if err != nil {
		s.tb.Fatalf("ask Dovecot for its version: %v", err)
	}
	if strings.HasPrefix(string(version), "2.3.") {
		return s.fill(dovecotConfig, group)
	}
	return s.fill(dovecot24Config, group)
}

func (s *Server) fill(t *template.Template, group string) string {
	var out strings.Builder
	if err := t.Execute(&out, s.settings(group)); err != nil {
		s.tb.Fatal(err)
	}
	return out.String()
}
