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
  expect(commandEnvironment({ HTTPS_PROXY: value })).not.toHaveProperty('HTTPS_PROXY')
})

it.each([
  ['SSH_AUTH_SOCK', '/run/user/1000/ssh-agent.sock'],
  ['PATH', `bin:/opt/node@24/bin:/home/${made('sk-')}/bin`],
  ['GIT_AUTHOR_NAME', 'Ada'],
  ['SSL_CERT_FILE', '/etc/ssl/certs/ca-certificates.crt'],
  ['NODE_EXTRA_CA_CERTS', './ca.pem'],
  ['http_proxy', 'http://proxy:3128'],
  ['EMAIL', 'ada@example.org'],
  ['LANG', 'C.UTF-8'],
])('passes %s=%s to commands', (name, value) => {
  expect(commandEnvironment({ [name]: value })).toHaveProperty([name], value)
})

it('passes nothing else, unless a person has configured it', () => {
  const environment = { JAVA_HOME: '/opt/java', DEPLOY_TOKEN: 'hush', PROVIDER_KEY: 'hush', LS_COLORS: 'di=01;34' }
  expect(commandEnvironment(environment)).not.toMatchObject({ JAVA_HOME: expect.anything() })
  const passed = ['JAVA_HOME', 'DEPLOY_TOKEN', 'PROVIDER_KEY']
  const kept = commandEnvironment(environment, { passed, keyNames: ['PROVIDER_KEY'] })
  expect(kept).toMatchObject({ JAVA_HOME: '/opt/java', DEPLOY_TOKEN: 'hush' })
  for (const name of ['PROVIDER_KEY', 'LS_COLORS']) expect(kept).not.toHaveProperty(name)
})

it('keeps programs from waiting for a person', () => {
  const given = { TERM: 'xterm', PAGER: 'less', GIT_EDITOR: 'vi', LC_ALL: 'de_DE' }
  expect(commandEnvironment(given)).toEqual({
    TERM: 'dumb',
    NO_COLOR: '1',
    CI: '1',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GH_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    DEBIAN_FRONTEND: 'noninteractive',
    LC_ALL: 'C.UTF-8',
  })
})
