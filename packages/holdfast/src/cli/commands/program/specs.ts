import type { CommandSpec } from '../../args/command-spec.ts'
import { ageNote, atServer, json, sessionNote, where } from '../../args/shared-flags.ts'

/** The commands for the program itself: keys, models and the server. */
export const programSpecs = {
  auth: {
    about: 'add, remove or list the keys of providers',
    positionals: ['[login/logout/status]', '[provider]'],
    tooMany:
      'A key is not an argument: others could read it in the list of processes. Leave it out to be asked for it, or use --key-stdin.',
    flags: {
      'base-url': { value: 'url', about: 'login: use this address instead of the usual one' },
      'key-stdin': { about: 'login: read the key from standard input' },
      'no-check': { about: 'login: save the key without checking it' },
      check: { about: 'status: check each key with its provider' },
      json,
    },
    notes: [
      '<provider> is a name such as anthropic; status lists them all. login without one asks for it, logout needs one, status takes none.',
      'login asks for the key without showing it, checks it with one free call and saves it to credentials.json in the config directory, readable by you alone. A key in the environment is used before one in the file.',
      'status shows at most the last four characters of a key. A running server uses a new key at once.',
    ],
  },
  models: {
    reads: true,
    about: 'list the usable models, or refresh their prices and limits',
    positionals: ['[refresh]', '[file]'],
    flags: { all: { about: 'also list unusable models, with the reason' }, ...atServer, json },
    notes: [
      "refresh reads a file in the form of Holdfast's own list, or api.json of models.dev. Nothing is downloaded.",
      'A model can be used even if its prices and limits are unknown.',
    ],
  },
  config: {
    about: 'list, read or change the settings of this user',
    positionals: ['[list/get/set/unset/edit/path]', '[key]', '[value]'],
    flags: { json },
    notes: [
      'list shows every setting with where it comes from: config.json, a variable or the default. set reads a value that is JSON as JSON, anything else as text.',
      'A key may lead into a table: providers.mybox.baseUrl. A name with a dot is in quotes: \'models."lab/m-1.5".takes\'.',
      'edit opens the file in VISUAL or EDITOR, and saves it only if it is valid. A running server must be restarted to use a change.',
    ],
  },
  completion: {
    about: 'print the completion script of a shell: bash, zsh or fish',
    positionals: ['<bash/zsh/fish>'],
    flags: {},
    notes: [
      'bash: holdfast completion bash >> ~/.bashrc',
      'zsh: holdfast completion zsh > "$fpath[1]/_holdfast"',
      'fish: holdfast completion fish > ~/.config/fish/completions/holdfast.fish',
      'Completes commands, flags, sessions, branches, models and providers.',
    ],
  },
  permissions: {
    reads: true,
    about: 'list, add or remove rules for tool calls of all sessions',
    positionals: ['[list/add/remove]', '[verdict]', '[tool]', '[pattern]'],
    flags: {
      workspace: { value: 'dir', about: 'the rules of this folder only' },
      ...atServer,
      json,
    },
    notes: [
      "add takes a verdict (allow, ask or deny), a tool or '*', and a pattern; without a pattern the rule covers every call. remove takes the id that list shows.",
      "Patterns for shell are words: * is one word, a last ** is any further words. Patterns for files are globs, such as 'src/**'. Deny beats ask, and ask beats allow.",
      'A running server applies a change from the next call on. Rules are stored in permissions.json in the config directory.',
    ],
  },
  mcp: {
    about: 'list, add, remove, test or sign in to MCP servers',
    positionals: ['[action]', '[name]', '[command…]'],
    flags: {
      workspace: { value: 'dir', about: 'the folder, if not the current one' },
      env: { value: 'name=value', many: true, about: 'add: a variable of the command; may be repeated' },
      header: { value: 'name:value', many: true, about: 'add: a header for the URL; may be repeated' },
      from: { value: 'file', about: 'add: all servers of this file of another program' },
      later: { about: 'add: start nothing now, and ask for its tools later' },
      port: { value: 'port', about: 'login: the port that the browser comes back to' },
      json,
    },
    notes: [
      'The actions are list, add, remove, test, login and logout.',
      'add takes a URL, or a command after --: holdfast mcp add notes -- node /home/me/notes-server.mjs',
      'add starts the server once and asks what it offers, so that sessions know its tools and need not start it. --later leaves that to the first session that needs it.',
      'add --from takes over the servers of Claude Code, Cursor, VS Code, Gemini CLI or opencode: holdfast mcp add --from .vscode/mcp.json. It replaces one that you have only if you name it.',
      'login prints a page where you sign in. Without a browser on this machine, paste the address that yours ends at.',
      'Your servers are in mcp.json in the config directory, in the form that other programs use. docs/mcp.md describes them.',
      'A workspace may bring servers in .mcp.json. They start only after you trust them: holdfast trust.',
    ],
  },
  trust: {
    reads: true,
    about: 'show or trust what the files of a workspace offer',
    positionals: ['[show/grant/revoke/list]', '[name…]'],
    flags: {
      workspace: { value: 'dir', about: 'the folder, if not the current one' },
      all: { about: 'grant: trust everything that is shown' },
      ...atServer,
      json,
    },
    notes: [
      'A memory, a skill or a command that comes with a repository reaches the model only after you trust it. One changed byte asks again. Notes that memory_write adds need no new trust.',
      'grant takes the names that show lists, or --all. list shows the workspaces that you trust.',
    ],
  },
  skills: {
    reads: true,
    about: 'list or show skills, or let a session follow one',
    positionals: ['[list/show/on/off]', '[name]'],
    flags: {
      session: { short: 's', value: 'session', about: 'the skills of this session; on, off: this session' },
      workspace: { value: 'dir', about: 'list, show: the folder, if not the current one' },
      ...atServer,
      json,
    },
    notes: [
      'on and off change the latest session of this folder, if --session names no other one. The model is told an active skill from its next step on.',
      'A skill of a workspace counts once you trust it: holdfast trust.',
      sessionNote,
    ],
  },
  agents: {
    reads: true,
    about: 'list the kinds of subagents, or the subagents of a session',
    positionals: ['[session]'],
    flags: { workspace: { value: 'dir', about: 'the folder, if not the current one' }, ...where, json },
    notes: [
      'With a session it lists the subagents that the session started, and theirs: their status, kind, model and task.',
      'A kind of agent is a Markdown file in .holdfast/agents, .claude/agents or agents of the config directory. docs/subagents.md describes them.',
      'One of a workspace counts once you trust it: holdfast trust.',
      sessionNote,
    ],
  },
  hooks: {
    reads: true,
    about: 'list the hooks of a folder, or try those of an event',
    positionals: ['[list/test]', '[event]'],
    flags: {
      workspace: { value: 'dir', about: 'the folder, if not the current one' },
      tool: { value: 'name', about: 'test: the tool of the sample call (default: shell)' },
      ...atServer,
      json,
    },
    notes: [
      'Hooks are programs that run at events such as PreToolUse. They come from config.json, and from .holdfast/hooks.json and .claude/settings.json of a workspace that you trust.',
      'test runs the active hooks of an event with a sample, and shows what they decide, what they print (after |) and what the model would be told (after >). No session is changed.',
    ],
  },
  tools: {
    reads: true,
    about: 'list the tools, their rules and the sandbox in force',
    positionals: ['[session]'],
    flags: {
      workspace: { value: 'dir', about: 'list the tools of sessions in this folder (default: here)' },
      ...where,
      json,
    },
    notes: [
      'Without a session, the tools of a new session in this folder are listed. With --url, the own tools of the program that serves are listed too.',
      sessionNote,
    ],
  },
  token: {
    reads: true,
    about: 'create, list or revoke tokens that let clients in',
    positionals: ['[create/list/revoke]', '[name]'],
    flags: {
      role: { value: 'role', choices: ['viewer', 'driver', 'admin'], about: 'create: what the token allows' },
      session: { short: 's', value: 'session', about: 'create: only for this session' },
      tenant: { value: 'name', about: 'create: only sessions and tokens of this tenant' },
      expires: { value: 'age', isAge: true, about: 'create: end by itself after this time' },
      ...where,
      json,
    },
    notes: [
      'viewer may read, driver may also send commands, admin may do everything. A driver can run commands on this machine.',
      'create prints the token once; only its hash is stored. revoke takes the id or the name, and ends what the token has open.',
      `--tenant needs a postgres:// store. ${ageNote} docs/tokens.md explains roles and tenants.`,
    ],
  },
  caps: {
    reads: true,
    about: 'show what was spent today, and set or remove caps on it',
    positionals: ['[list/set/remove]'],
    flags: {
      cost: { value: 'dollars', about: 'set: dollars a day; 0 stops all work' },
      tokens: { value: 'n', range: [0, Number.MAX_SAFE_INTEGER], about: 'set: tokens of models a day' },
      token: { value: 'token', about: 'only this access token, by id or name; or local' },
      workspace: { value: 'dir', about: 'only sessions of this folder' },
      day: { value: 'day', about: 'list: what was spent on this day, such as 2026-01-31' },
      ...where,
      json,
    },
    exclusive: [['token', 'workspace']],
    notes: [
      'Without --token and --workspace a cap is for everything. All caps apply together. A day is one in UTC.',
      'At a cap, turns end between two model calls, and prompts are refused until the next day or until the cap is raised. continue goes on with a turn.',
      'docs/spending.md explains who pays, and what happens with a model whose price is unknown.',
    ],
  },
  login: {
    about: 'print a fresh login link of the running server',
    flags: { qr: { about: 'print a code for a phone on the same network' }, json },
    notes: ['The link works once, within ten minutes. The browser stays logged in for 30 days.'],
  },
  open: {
    about: 'open the page of the running server in the browser',
    flags: {},
    notes: ['BROWSER names the program to start; without it, the one of the system is used.'],
  },
  serve: {
    about: 'start the server and its page',
    flags: {
      host: { value: 'host', about: 'listen on this address (default: 127.0.0.1)' },
      port: { value: 'port', range: [0, 65_535], about: 'listen on this port (default: 4820; 0: any)' },
      store: { value: 'url', about: 'the store: sqlite:PATH, jsonl:DIR, postgres://… or memory:' },
      blobs: { value: 's3-url', about: 'where a postgres:// store keeps new files' },
      mirror: { value: 'dir', about: 'also write each session of a SQLite store to a file here' },
      'title-model': { value: 'model', about: 'let this model title new sessions' },
      sandbox: { value: 'when', choices: ['auto', 'on', 'off'], about: 'confine commands: auto (default), on or off' },
      retention: { value: 'age', isAge: true, about: 'daily, move sessions inactive for this long to the trash' },
      'public-url': { value: 'url', many: true, about: 'an address that a proxy in front serves; may be repeated' },
      'trusted-proxy': { value: 'address', many: true, about: 'believe the headers of this proxy; may be repeated' },
      'node-url': { value: 'url', about: 'where other nodes reach this one (PostgreSQL)' },
      serves: { value: 'label=dir', many: true, about: 'a folder that other nodes have too; may be repeated' },
      drain: {
        value: 'seconds',
        range: [0, 3600],
        about: 'seconds that turns may take to end (PostgreSQL; default: 25)',
      },
      qr: { about: 'also print the login link as a code for a phone' },
      'no-page': { about: 'serve the API only' },
      json: { about: 'print the address and the login link as JSON' },
    },
    notes: [
      'One server runs per home directory. A second one says where the first is and ends with exit code 1; at a terminal it offers to open its page.',
      'Prints a login link for the page; it works once. holdfast login prints another one. Ctrl-C stops the server, a second Ctrl-C kills it.',
      'To let others connect (--host), first create a token (holdfast token create), or set HOLDFAST_TOKEN to a secret of at least 22 characters. docs/network.md shows HTTPS with a proxy in front.',
      `Without --retention nothing is moved. ${ageNote}`,
      'Several servers on one postgres:// store share all sessions: docs/cluster.md. A first signal lets turns end and hands the sessions over; a second one kills the server.',
    ],
  },
} as const satisfies { readonly [name: string]: CommandSpec }
