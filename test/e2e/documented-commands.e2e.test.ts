import { globSync, readFileSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandsOf, type Promised, runDocumented } from './documented-commands.ts'

const latest = "name=$(holdfast ls | awk 'NR == 2 { print $1 }')"
const skill = `mkdir -p .holdfast/skills/release src
printf -- '---\\nname: release\\ndescription: Writes release notes.\\n---\\nWrite notes.\\n' > .holdfast/skills/release/SKILL.md`

const claudeId = '0f0f0f0f-1111-4222-8333-444444444444'
/** A session of Claude Code with one prompt, for printf. */
const claudeLine = `${JSON.stringify({
  type: 'user',
  uuid: 'a1',
  parentUuid: null,
  sessionId: claudeId,
  cwd: '/tmp',
  timestamp: '2026-01-31T10:00:00.000Z',
  message: { role: 'user', content: 'hello from there' },
})}\\n`

/** A program that speaks the Model Context Protocol. */
const localServer = resolve(import.meta.dirname, '../../packages/holdfast/src/tools/mcp/hostile-server.fixture.ts')

/** Starts a server that ends with the shell, and waits for its first line. */
const startServer = `mkfifo started; holdfast serve --port 0 --json >started 2>/dev/null & read -r answer <started
trap "kill $(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' "$HOLDFAST_HOME/state/server.json")" EXIT
url=$(printf %s "$answer" | sed 's/.*"url":"\\([^"]*\\)".*/\\1/')`

/** What the documents promise of their commands, in their order. */
const promises: Readonly<Record<string, readonly Promised[]>> = {
  'README.md': [
    { line: 'npx holdfast run "list the files here"', prints: /^I will use list_directory\.[\s\S]*README\.md/ },
    { line: 'npx holdfast run --yes "write hello.txt: hi"', prints: /created hello\.txt/, says: /Approved by --yes/ },
    { line: 'npx holdfast ls', prints: /^HANDLE[^\n]*\n[^\n]*write hello\.txt: hi[^\n]*\n[^\n]*list the files here/ },
    { line: 'npx holdfast search "files"', prints: /list the files here/ },
    { line: 'npx holdfast show @latest', prints: /you[^\n]*\n {2}write hello\.txt: hi[\s\S]*tool write_file/ },
    {
      line: 'npx holdfast attach @latest',
      input: '/leave\n',
      prints: /tool write_file/,
      says: /You drive this session/,
    },
    { line: 'npx holdfast export @latest --format md', prints: /^# write hello\.txt: hi\n/ },
    { line: 'npx holdfast run -s @latest "count to 3"', prints: /^1, 2, 3\.\n$/ },
    { line: 'npx holdfast branch @latest 0', prints: /^branch-1\n$/, says: /continues from the end of turn 0/ },
    { line: 'npx holdfast fork @latest', prints: /^[a-z]+-[a-z]+-\d+\n$/, says: /shares the history of/ },
    { line: 'npx holdfast rm @latest', prints: /^[a-z]+-[a-z]+-\d+\n$/, says: /Moved to the trash: 1 session/ },
    { line: 'npx holdfast tell @latest sendPrompt content="list"', prints: /hello\.txt/ },
    // At a terminal it asks for the provider: test/e2e/cli-models.e2e.test.ts.
    { line: 'npx holdfast auth login', code: 2, says: /needs a provider/ },
    { line: 'npx holdfast models', prints: /^MODEL +CONTEXT +ANSWER +IN +OUT[\s\S]*demo\/agent/ },
    { line: 'alias holdfast="$PWD/node_modules/.bin/node $PWD/node_modules/.bin/holdfast"' },
    { line: 'cd ~/my-project' },
    { line: 'holdfast run "list the files here"', prints: /is empty/ },
    { line: 'holdfast trust', says: /my-project offers nothing that needs trust/ },
    { line: 'holdfast attach @latest', input: '/leave\n', says: /list the files here/ },
  ],
  'docs/cli.md': [
    { line: 'holdfast run "list the files here"', prints: /README\.md/ },
    {
      line: 'git diff | holdfast run "review this change"',
      as: 'cat README.md | holdfast run "review this change"',
      prints: /^I do not understand "review this change"/, // the demo model is no reviewer
    },
    {
      line: 'holdfast run -s calm-harbor-12 --yes "write notes.txt: done"',
      given: latest,
      as: 'holdfast run -s "$name" --yes "write notes.txt: done"',
      prints: /created notes\.txt/,
    },
    {
      line: 'holdfast tell @latest respondToApproval decision=approve',
      given: 'holdfast tell @latest sendPrompt --no-wait content="write one.txt: 1" >/dev/null 2>&1',
      prints: /created one\.txt/,
      says: /^Accepted/m,
    },
    {
      line: 'holdfast tell @latest respondToApproval decision=approve_session',
      given: 'test -f one.txt && holdfast tell @latest sendPrompt --no-wait content="write two.txt: 2" >/dev/null 2>&1',
      prints: /created two\.txt/,
      says: /^Accepted/m,
    },
    {
      line: 'holdfast tell @latest queueFollowUp content="then run the tests"',
      given: 'ls two.txt',
      prints: /run the tests/,
    },
    // Nothing is queued here: no turn runs.
    {
      line: "holdfast tell @latest reorderQueue queue=follow_up 'entries=[12,9]'",
      code: 1,
      says: /Prompt 12 is not in the queue/,
    },
    { line: 'holdfast tell @latest setToolTrust tool=write_file scope=session', prints: /^Accepted/ },
    {
      line: 'holdfast tell @latest enterExec keepPlan=true',
      given: 'holdfast tell @latest enterPlan >/dev/null 2>&1',
      prints: /^Accepted/,
    },
    { line: 'holdfast tell @latest abort', prints: /^Accepted/ },
    { line: 'holdfast branch @latest 2', prints: /^branch-1\n$/ },
    { line: 'holdfast switch @latest branch-1', says: /branch-1/ },
    { line: 'holdfast show @latest --branch branch-2', prints: /notes\.txt/ },
    {
      line: 'holdfast run -s "$(holdfast fork @latest --at 0)" "another way"',
      prints: /another way/,
      says: /^session /,
    },
    { line: 'holdfast tell @latest compact', code: 1, says: /nothing to summarise yet/ },
    { line: 'holdfast pin @latest', says: /^Pinned/ },
    { line: "holdfast rename @latest 'Harbour works'", says: /The title is Harbour works/ },
    {
      line: 'holdfast rm calm-harbor-12',
      given: latest,
      as: 'holdfast rm "$name"',
      says: /Moved to the trash: 1 session/,
    },
    {
      line: 'holdfast trash restore calm-harbor-12',
      as: 'holdfast trash restore "$name"',
      says: /Restored [^\n]*Harbour works/,
    },
    { line: 'holdfast prune --older-than 30d --all --dry-run', says: /Would move to the trash: 0 sessions/ },
    {
      line: 'holdfast mv-workspace ~/old/project ~/new/project',
      given: `mkdir -p ~/old/project ~/new; (cd ~/old/project && holdfast run "count to 2") >/dev/null 2>&1; mv ~/old/project ~/new/`,
      says: /Moved 1 session to/,
    },
    { line: 'holdfast tell @latest togglePin message=12', prints: /pinned: true/ },
    {
      line: `holdfast tell @latest seedMessages 'messages=[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]'`,
      prints: /^Accepted/,
    },
    { line: 'holdfast export @latest --format json -o session.json', says: /session\.json/ },
    { line: 'holdfast export @latest --format html --redact -o session.html', says: /session\.html/ },
    {
      line: 'holdfast import ~/.claude/projects ~/.codex/sessions',
      given: `mkdir -p ~/.claude/projects/here ~/.codex/sessions; printf '${claudeLine}' > ~/.claude/projects/here/${claudeId}.jsonl`,
      says: /1 imported/,
    },
    {
      line: 'holdfast import session.jsonl --from holdfast',
      given:
        "holdfast export @latest -o session.jsonl; holdfast rm --forever --yes $(holdfast ls | awk '/Harbour|review/ { print $1 }')",
      says: /1 imported/,
    },
  ],
  'docs/commands.md': [
    {
      line: "holdfast run '/fix 12 high'",
      given: "mkdir -p ~/.claude/commands; echo 'count to $1 with priority $2' > ~/.claude/commands/fix.md",
      prints: /1, 2, 3/,
    },
  ],
  'docs/mcp.md': [
    {
      line: `holdfast mcp add files -- npx -y @modelcontextprotocol/server-filesystem '\${WORKSPACE}'`,
      as: `holdfast mcp add files -- '${process.execPath}' '${localServer}' plain`,
      says: /files answers, and has 8 tools/,
    },
    {
      line: `holdfast mcp add tracker https://mcp.example/v1 --header 'Authorization: Bearer \${TRACKER_TOKEN}'`,
      // The file has the name of the variable, not its value. No server is there.
      as: `export TRACKER_TOKEN=made-up; holdfast mcp add tracker http://127.0.0.1:9/v1 --header 'Authorization: Bearer \${TRACKER_TOKEN}'`,
      says: /It is added, but does not answer/,
    },
    { line: 'holdfast mcp test files', prints: /^files answers\.\nTools:\n {2}mcp__files__hello\n/ },
    {
      line: 'holdfast mcp',
      given: `grep -q 'Bearer \${TRACKER_TOKEN}' "$HOLDFAST_HOME/config/mcp.json" || exit 1`,
      prints: /files +user[\s\S]*tracker +user/,
    },
    { line: 'holdfast mcp remove files', says: /Removed files/ },
    { line: 'holdfast mcp logout tracker', says: /tracker/ },
  ],
  'docs/models.md': [
    {
      line: 'curl -o models.json https://models.dev/api.json && holdfast models refresh models.json',
      given: `echo '{"asOf":"2026-12-01","models":{"anthropic/next":{"contextTokens":4321}}}' > models.json`,
      as: 'holdfast models refresh models.json',
      prints: /^Loaded 1 models as of 2026-12-01/,
    },
  ],
  'docs/network.md': [{ line: 'holdfast token create laptop --role driver', prints: /^holdfast_[\w-]{43}\n$/ }],
  'docs/permissions.md': [
    { line: 'holdfast permissions', prints: /^ID +VERDICT +TOOL +PATTERN +WHERE\n$/ },
    { line: "holdfast permissions add allow shell 'git status'", says: /Added rule \w{8}: allow shell, git status/ },
    {
      line: "holdfast permissions add allow shell 'git log **' --workspace .",
      says: /Added rule \w{8}: allow shell, git log \*\*, \/.*clone/,
    },
    { line: "holdfast permissions add deny '*' '**/.env'", says: /Added rule \w{8}: deny \*, \*\*\/\.env, everywhere/ },
    {
      line: 'holdfast permissions remove 1f0c22ab',
      given: "rule=$(holdfast permissions | awk '/git status/ { print $1 }')",
      as: 'holdfast permissions remove "$rule"',
      says: /[Rr]emoved/,
    },
  ],
  'docs/retention.md': [
    {
      line: 'holdfast backup saved.db',
      given: 'holdfast run "count to 3" >/dev/null 2>&1',
      prints: /saved\.db: 1 session, \d+ records/,
    },
    { line: 'holdfast doctor [--repair] [--json]', as: 'holdfast doctor --repair --json', prints: /"isIntact":true/ },
    {
      line: 'holdfast migrate --to jsonl:DIR [--from URL]',
      as: 'holdfast migrate --to jsonl:DIR',
      prints: /1 session copied[^\n]*all equal/,
    },
  ],
  'docs/skills.md': [
    { line: 'holdfast skills', given: `${skill}; holdfast trust grant --all >/dev/null 2>&1`, prints: /release/ },
    { line: 'holdfast skills show release', prints: /Write notes\./ },
    { line: 'holdfast skills on release', given: 'holdfast run "count to 2" >/dev/null 2>&1', says: /release/ },
  ],
  'docs/spending.md': [
    { line: 'holdfast caps', given: 'holdfast run "count to 2" >/dev/null 2>&1', prints: /^Spent on [\s\S]*all +1 / },
    { line: 'holdfast caps set --cost 20', says: /Set the cap for everything: \$20 a day/ },
    {
      line: 'holdfast caps set --cost 5 --token phone',
      says: /Set the cap for token phone \(tok_\w+\): \$5 a day/,
      given: 'holdfast token create phone --role driver >/dev/null 2>&1; mkdir ~/harbour',
    },
    {
      line: 'holdfast caps set --cost 2.50 --tokens 500000 --workspace ~/harbour',
      says: /harbour: \$2\.50?[^\n]* 500,?000/,
    },
    { line: 'holdfast caps set --cost 5 --token local', says: /Set the cap for token local/ },
    { line: 'holdfast caps remove --token phone', says: /Removed the cap for token/ },
    { line: 'holdfast caps --day 2026-01-31', prints: /^Spent on 2026-01-31/ },
  ],
  'docs/subagents.md': [
    { line: 'holdfast run "delegate list src"', given: 'mkdir src; touch src/here.ts', prints: /here\.ts/ },
    { line: 'holdfast agents @latest', prints: /^HANDLE +STATUS +KIND[\s\S]*completed +general[\s\S]*list src/ },
    {
      line: 'holdfast show calm-harbor-12',
      as: 'holdfast show "$name"',
      prints: /you[^\n]*\n {2}list src/,
      given: "name=$(holdfast agents @latest | awk 'NR == 2 { print $1 }')",
    },
    { line: 'holdfast run "delegate in background count to 20"', prints: /background/, says: /works: count to 20/ },
    { line: 'holdfast agents', prints: /^AGENT[\s\S]*general/ },
  ],
  'docs/tokens.md': [
    { line: 'holdfast token create phone --role driver', prints: /^holdfast_[\w-]{43}\n$/ },
    { line: 'holdfast token create ci --role viewer --expires 30d', prints: /^holdfast_/ },
    {
      line: 'holdfast token create review --role viewer --session calm-harbor-12',
      given: `holdfast run hello >/dev/null 2>&1; ${latest}`,
      prints: /^holdfast_/,
      as: 'holdfast token create review --role viewer --session "$name"',
    },
    { line: 'holdfast token list', prints: /phone +driver +all[\s\S]*ci +viewer +all[\s\S]*review +viewer +ses_/ },
    {
      line: 'holdfast token list --url http://192.0.2.7:4820 --token-file admin.token',
      given: startServer,
      as: 'holdfast token list --url "$url" --token-file "$HOLDFAST_HOME/state/server.token"',
      prints: /phone +driver/,
    },
    { line: 'holdfast token revoke phone', says: /Revoked token tok_/ },
    // Tenants need PostgreSQL: packages/holdfast/src/integration/server-tenants.test.ts.
    { line: 'holdfast token create acme-admin --role admin --tenant acme', code: 1, says: /postgres/i },
    { line: 'holdfast token create ben --role driver --tenant umbrella', code: 1, says: /postgres/i },
    {
      line: 'holdfast share calm-harbor-12',
      as: 'holdfast share "$name"',
      prints: /\/shared#holdfast_/,
      says: /Anyone with this link can read the session/,
    },
    { line: 'holdfast share @latest --expires 7d --qr', prints: /\/shared#holdfast_/ },
    { line: 'holdfast login --revoke-all', says: /^Ended 0 logins of the page\./ },
  ],
  'docs/trust.md': [
    { line: 'holdfast trust', given: skill, prints: /release/ },
    { line: 'holdfast trust grant --all', says: /Trusted skill \.holdfast\/skills\/release/ },
    { line: 'holdfast trust revoke', says: /clone is not trusted/ },
    { line: 'holdfast trust list', prints: /^WORKSPACE +TRUSTED/ },
  ],
}

/** A line that is tried elsewhere, and the file that does it. */
type Elsewhere = {
  readonly page: string
  readonly line: string
  readonly triedBy: string
  /** The part of the line that the file contains, or the call with which it reads all lines of the page. */
  readonly by: string
}

const services = 'test/e2e/documented-services.e2e.test.ts'
const packages = 'test/e2e/packages.e2e.test.ts'

/** Lines that need another machine, a registry or a person, or that are no commands. */
const elsewhere: readonly Elsewhere[] = [
  {
    page: 'docs/cluster.md',
    line: "export HOLDFAST_STORE='postgres://holdfast:PASSWORD@db.example/holdfast'",
    triedBy: services,
    by: 'HOLDFAST_STORE',
  },
  {
    page: 'docs/cluster.md',
    line: 'holdfast serve --host 0.0.0.0 --public-url https://holdfast.example.com',
    triedBy: services,
    by: "'cluster.md'",
  },
  {
    page: 'docs/cluster.md',
    line: 'holdfast serve --host 0.0.0.0 --public-url https://holdfast.example.com --node-url http://10.0.0.7:4821 --serves projects=/srv/projects',
    triedBy: services,
    by: 'http://10.0.0.7:4821',
  },
  { page: 'docs/embed.md', line: 'npm install holdfast', triedBy: packages, by: 'npm install' },
  {
    page: 'docs/embed.md',
    line: 'npm install CLONE/build/tarballs/holdfast-0.1.0.tgz CLONE/build/tarballs/holdfast-client-0.1.0.tgz',
    triedBy: packages,
    by: 'tarballs',
  },
  {
    page: 'docs/embed.md',
    line: 'npm install -D CLONE/build/tarballs/holdfast-testkit-0.1.0.tgz',
    triedBy: packages,
    by: 'tarballs',
  },
  {
    page: 'docs/own-store.md',
    line: 'npm install -D @holdfast/testkit vitest',
    triedBy: packages,
    by: 'npm install -D @holdfast/testkit',
  },
  {
    page: 'docs/testing.md',
    line: 'npm install -D @holdfast/testkit',
    triedBy: packages,
    by: 'npm install -D @holdfast/testkit',
  },
  {
    page: 'docs/http-guide.md',
    line: 'HOLDFAST_TOKEN=choose-a-long-secret-yourself npx holdfast serve',
    triedBy: 'test/e2e/http-guide.e2e.test.ts',
    by: 'HOLDFAST_TOKEN',
  },
  {
    page: 'docs/http.md',
    line: 'npx openapi-typescript openapi.json -o holdfast-api.ts',
    triedBy: services,
    by: 'npx openapi-typescript',
  },
  {
    page: 'docs/mcp.md',
    line: 'holdfast mcp login tracker',
    triedBy: 'test/e2e/cli-mcp.e2e.test.ts',
    by: 'holdfast mcp login',
  },
  ...[
    'holdfast serve --host 0.0.0.0 --qr',
    'holdfast serve --public-url https://holdfast.example.com --trusted-proxy 127.0.0.1',
  ].map((line) => ({ page: 'docs/network.md', line, triedBy: services, by: "blocksOf('network.md')" })),
  {
    page: 'docs/retention.md',
    line: "holdfast serve --store 'postgres://holdfast:PASSWORD@db.example/holdfast'",
    triedBy: services,
    by: "'postgres://holdfast:PASSWORD@db.example/holdfast'",
  },
  {
    page: 'docs/retention.md',
    line: "export HOLDFAST_BLOBS='s3://files/holdfast?endpoint=https://minio.example&region=us-east-1'",
    triedBy: 'packages/holdfast/src/admin/migrate/database.test.ts',
    by: 'HOLDFAST_BLOBS',
  },
  ...[
    'mkdir -p ~/.config/systemd/user ~/.config/holdfast',
    'cp deploy/holdfast.service ~/.config/systemd/user/',
    'install -m 600 /dev/null ~/.config/holdfast/environment',
    'systemctl --user enable --now holdfast',
    'podman build -f deploy/Containerfile -t holdfast .',
    'podman run -d --name holdfast -p 127.0.0.1:4820:4820 --env-file holdfast.env -v holdfast-data:/data -v "$PWD:/projects/mine" holdfast',
  ].map((line) => ({ page: 'docs/service.md', line, triedBy: services, by: "blocksOf('service.md')" })),
  {
    page: 'docs/telemetry.md',
    line: '└─ invoke_agent holdfast         one turn', // a picture of spans
    triedBy: 'packages/holdfast/src/observe/telemetry/session-spans.test.ts',
    by: 'invoke_agent',
  },
]

const root = resolve(import.meta.dirname, '../..')
/** Returns the text of a file; an empty one for a folder or nothing. */
const textOf = (path: string): string =>
  statSync(resolve(root, path), { throwIfNoEntry: false })?.isFile() ? readFileSync(resolve(root, path), 'utf8') : ''
const pages = ['README.md', ...globSync('docs/*.md', { cwd: root })]
const runnable = (page: string): readonly string[] =>
  commandsOf(page).filter((line) => !elsewhere.some((other) => other.page === page && other.line === line))

describe.concurrent('the commands of the documents', () => {
  it('are all run, in their order', () => {
    const known = Object.fromEntries(Object.entries(promises).map(([page, all]) => [page, all.map(({ line }) => line)]))
    const written = pages.map((page) => [page, runnable(page)] as const).filter(([, lines]) => lines.length > 0)
    expect(known).toEqual(Object.fromEntries(written))
  })

  it('are tried by the test that is named, if not here', () => {
    const unknown = elsewhere.filter(({ page, line }) => !commandsOf(page).includes(line))
    const untried = elsewhere.filter(({ page, line, triedBy, by }) => {
      const readsPage = by.includes(`'${basename(page)}'`)
      return !(line.includes(by) || readsPage) || !textOf(triedBy).includes(by)
    })
    expect([unknown, untried]).toEqual([[], []])
  })

  it.each(Object.keys(promises))('%s: do what it says', async (page) => {
    const promised = promises[page] ?? []
    const ran = await runDocumented(promised)
    const expected = promised.map(({ line, code = 0, prints, says }) => ({
      line,
      code,
      out: prints ? expect.stringMatching(prints) : expect.any(String),
      err: says ? expect.stringMatching(says) : expect.any(String),
    }))
    expect(ran).toEqual(expected)
  })
})
