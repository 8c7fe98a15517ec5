import { expect, it } from 'vitest'
import { commandEnvironment } from './environment.ts'

/** Has the form of a secret, but is not one. */
const made = (prefix: string) => `${prefix}${'X0'.repeat(12)}`

it.each([
  'ANTHROPIC_API_KEY',
  'github_token',
  'DB_PASSWORD',
  'HOLDFAST_HOME',
  'GITHUB_PAT',
  'MY_AUTH',
  'NPM_CONFIG__AUTH',
  'npm_config_//packages.example/:_auth',
  'OAUTH2_CLIENT',
  'ANTHROPIC_CUSTOM_HEADERS',
  'MYSQL_PWD',
  'DBPWD',
  'SMTP_PASS',
  'SSHPASS',
  'GIT_ASKPASS',
  'ROOT_PASSWD',
  'SESSION_COOKIE',
  'APP_PRIVATE',
  'SIGNING_ID',
  'APPLE_CERTIFICATE',
  'GIT_CONFIG_COUNT',
  'GIT_CONFIG_VALUE_0',
])('removes %s from the environment by its name', (name) => {
  expect(commandEnvironment({ [name]: 'hush' })).not.toHaveProperty([name])
})

it.each([
  'postgres://u:hush@h/d',
  'postgres://u:hu/sh@h/d',
  'redis://:hush@h',
  'http://u:hush@proxy:3128',
  'u:hush@proxy:3128',
  'see http://u:hush@h and http://h',
  'https://hush@h/repository.git',
  'Server=h;User Id=u;Password=hush',
  'jdbc:mysql://h/d?user=u&password=hush',
  'AUTHORIZATION: basic hushhushhush',
  made('sk-'),
  made('sk_live_'),
  made('ghp_'),
  made('github_pat_'),
  made('hf_'),
  made('AKIA'),
  made('xoxb-'),
  `${made('eyJ')}.${made('eyJ')}.hush`,
  `--with=${made('ghp_')}`,
  `-----BEGIN ${'PRIVATE'} KEY-----\nhush`,
])('removes %j from the environment by its value', (value) => {
  expect(commandEnvironment({ ANYTHING: value })).not.toHaveProperty('ANYTHING')
})

it.each([
  ['SSH_AUTH_SOCK', '/run/user/1000/ssh-agent.sock'],
  ['PATH', `bin:/opt/node@24/bin:/home/${made('sk-')}/bin`],
  ['PWD', '/work'],
  ['OLDPWD', '/'],
  ['GIT_AUTHOR_NAME', 'Ada'],
  ['NODE_PATH', '/opt/node@24/lib:/opt/task-runner-of-this-machine/lib'],
  ['SSL_CERT_FILE', '/etc/ssl/certs/ca-certificates.crt'],
  ['NODE_EXTRA_CA_CERTS', './ca.pem'],
  ['http_proxy', 'http://proxy:3128'],
  ['REMOTE', 'ssh://git@example.org/repository.git'],
  ['ORIGIN', 'git@example.org:team/repository.git'],
  ['EMAIL', 'ada@example.org'],
  ['LANG', 'C.UTF-8'],
  ['LS_COLORS', 'di=01;34:*.tar=01;31:*.pem=00;32'],
])('passes %s=%s to commands', (name, value) => {
  expect(commandEnvironment({ [name]: value })).toHaveProperty([name], value)
})
