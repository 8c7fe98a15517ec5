import { limits } from '@holdfast/protocol/limits'
import type { CliContext } from '../terminal/cli-context.ts'
import type { CommandResult } from '../terminal/exit.ts'
import { tellCommands } from './tell-help.ts'

/** A flag of a command. One without `value` is a switch; a value is text unless `range`, `choices` or `isAge` says more. */
export type FlagSpec = {
  readonly about: string
  readonly short?: string
  /** What the help calls its value. */
  readonly value?: string
  /** The least and the greatest whole number it accepts. */
  readonly range?: readonly [number, number]
  readonly choices?: readonly string[]
  /** Whether it takes an age such as 30d, which the command gets in milliseconds. */
  readonly isAge?: true
}

export type CommandSpec = {
  /** Starts with a verb; at most 60 characters. */
  readonly about: string
  /** `<needed>`, `[optional]`, `[any number…]`, in order. */
  readonly positionals?: readonly string[]
  /** The error for too many arguments, if they must not be repeated on the terminal. */
  readonly tooMany?: string
  readonly flags: { readonly [name: string]: FlagSpec }
  /** Pairs of flags of which only one may be given. */
  readonly exclusive?: readonly (readonly [string, string])[]
  /** A list for the help, under a heading. */
  readonly list?: { readonly heading: string; readonly rows: readonly (readonly [string, string])[] }
  /** Paragraphs at the end of the help. */
  readonly notes?: readonly string[]
}

const json = { about: 'print JSON' } as const
const store = { value: 'url', about: 'use this store: sqlite:PATH or jsonl:DIR' } as const
const dryRun = { about: 'only print what would happen' } as const
const listLimit = { value: 'n', range: [1, 1_000_000], about: 'print at most n sessions (default: 50)' } as const
const listCursor = { value: 'cursor', about: 'continue an earlier list ("next" in its JSON)' } as const

const sessionNote =
  '<session> is an id, a unique beginning of an id, a handle such as calm-harbor-12, or @latest: the session of this folder with the latest message.'
const ageNote = 'An age is a whole number and a unit: 90m, 12h, 30d or 2w.'

const tellRows = Object.entries(tellCommands).map(
  ([type, [fields, about]]) => [`${type} ${fields}`.trimEnd(), about] as const,
)

const turnNote = 'Turns count from 0.'
const trashNote = 'Sessions in the trash can be restored for 30 days.'

/** The commands that start, read and change sessions. */
const sessionSpecs = {
  run: {
    about: 'send one prompt and print the answer',
    positionals: ['[prompt]'],
    flags: {
      session: { short: 's', value: 'session', about: 'continue this session instead of a new one' },
      model: { value: 'model', about: 'use this model (provider/model) in the new session' },
      workdir: { value: 'dir', about: 'run the new session in this folder (default: here)' },
      yes: { about: 'approve every call that asks' },
      no: { about: 'reject every call that asks (the default)' },
      plan: { about: 'plan only; change nothing' },
      store,
      json: { about: 'print one JSON object a line, the result last' },
    },
    exclusive: [['yes', 'no']],
    notes: [
      'Without a prompt, or with -, run reads the prompt from standard input.',
      'Exit code 0: the turn ended. 1: it failed. 130: it was interrupted.',
      sessionNote,
    ],
  },
  ls: {
    about: 'list sessions: pinned first, then by latest message',
    flags: {
      all: { about: 'list sessions of every workspace, not only this one' },
      workspace: { value: 'dir', about: 'list sessions of this workspace' },
      search: { value: 'text', about: 'match words in title, preview or recent text' },
      model: { value: 'model', about: 'list sessions with this model' },
      age: { value: 'age', isAge: true, about: 'list sessions with a message within this time' },
      pinned: { about: 'list pinned sessions only' },
      running: { about: 'list running sessions only' },
      limit: listLimit,
      cursor: listCursor,
      store,
      json,
    },
    exclusive: [['all', 'workspace']],
    notes: [ageNote],
  },
  show: {
    about: 'print the transcript of a session',
    positionals: ['<session>'],
    flags: {
      limit: { value: 'n', range: [1, 1_000_000], about: 'print only the newest n messages' },
      branch: { value: 'name', about: 'print this branch instead of the current line' },
      store,
      json,
    },
    notes: [sessionNote],
  },
  search: {
    about: 'search the messages of all sessions of this workspace',
    positionals: ['<text>', '[more…]'],
    flags: {
      all: { about: 'search every workspace, not only this one' },
      workspace: { value: 'dir', about: 'search this workspace' },
      session: { short: 's', value: 'session', about: 'search this session only' },
      role: { value: 'role', choices: ['user', 'assistant', 'tool', 'system'], about: 'search messages of this role' },
      tool: { value: 'name', about: 'search calls of this tool and their results' },
      since: { value: 'when', about: 'search from this date (2026-01-31) or age (7d) on' },
      until: { value: 'when', about: 'search before this date or age' },
      limit: { value: 'n', range: [1, limits.searchHitsMax], about: 'print at most n hits (default: 20)' },
      cursor: { value: 'cursor', about: 'continue an earlier search ("next" in its JSON)' },
      store,
      json,
    },
    exclusive: [['all', 'workspace']],
    notes: [
      'All words must occur. word* matches words that begin so; "a phrase" matches words in a row. The newest 1,000 matches are ranked, best first.',
      '--role takes user, assistant, tool or system.',
      ageNote,
      sessionNote,
    ],
  },
  branch: {
    about: 'go back to the end of a turn; save the rest as a branch',
    positionals: ['<session>', '<turn>'],
    flags: { store, json },
    notes: [`Prints the name of the new branch. ${turnNote}`, sessionNote],
  },
  branches: {
    about: 'list the branches of a session',
    positionals: ['<session>'],
    flags: { store, json },
    notes: [sessionNote],
  },
  switch: {
    about: 'switch to a branch; save the current line as a branch',
    positionals: ['<session>', '<branch>'],
    flags: { store, json },
    notes: ['<branch> is a name or an index that branches prints. Prints the name of the branch.', sessionNote],
  },
  rewind: {
    about: 'undo the turns after a turn; save them as a branch',
    positionals: ['<session>', '<turn>'],
    flags: { store, json },
    notes: [`Prints the name of the new branch. Files are not changed back. ${turnNote}`, sessionNote],
  },
  fork: {
    about: "start a new session that shares this one's past",
    positionals: ['<session>'],
    flags: {
      at: { value: 'turn', range: [0, 999_999_999], about: 'share up to the end of this turn (default: the last one)' },
      store,
      json,
    },
    notes: [`Prints the id of the new session. ${turnNote}`, sessionNote],
  },
  rename: {
    about: 'set the title of a session',
    positionals: ['<session>', '<title>'],
    flags: { store, json },
    notes: ["The title '' resets it to the first line of the first prompt.", sessionNote],
  },
  pin: {
    about: 'list a session first; protect it from prune and rm --all',
    positionals: ['<session>'],
    flags: { off: { about: 'unpin it' }, store, json },
    notes: [sessionNote],
  },
  rm: {
    about: 'move sessions to the trash',
    positionals: ['[session…]'],
    flags: {
      force: { about: 'also move one that runs or has clients; stop it first' },
      all: { about: 'move all but running, attached or pinned sessions' },
      workspace: { value: 'dir', about: 'with --all: only sessions of this workspace' },
      'dry-run': dryRun,
      store,
      json,
    },
    notes: [`Prints the handles of the sessions it moved, one a line. ${trashNote}`, sessionNote],
  },
  prune: {
    about: 'move inactive sessions to the trash',
    flags: {
      'older-than': { value: 'age', isAge: true, about: 'move sessions without a message for this long; needed' },
      all: { about: 'prune every workspace, not only this one' },
      workspace: { value: 'dir', about: 'prune this workspace' },
      'dry-run': dryRun,
      store,
      json,
    },
    exclusive: [['all', 'workspace']],
    notes: [`Running, attached and pinned sessions stay, and are listed. ${trashNote}`, ageNote],
  },
  trash: {
    about: 'list, restore or delete the sessions in the trash',
    positionals: ['[list/restore/empty]', '[session]'],
    flags: {
      'older-than': { value: 'age', isAge: true, about: 'empty: only sessions in the trash for longer' },
      limit: listLimit,
      cursor: listCursor,
      'dry-run': dryRun,
      store,
      json,
    },
    notes: ['empty deletes permanently. Sessions are deleted automatically after 30 days in the trash.', ageNote],
  },
  tell: {
    about: 'send a command to a session',
    positionals: ['<session>', '<command>', '[name=value…]'],
    flags: { store, json },
    list: { heading: 'Commands:', rows: tellRows },
    notes: [
      'A value that is JSON is read as JSON, anything else as text.',
      'tell is never attached to the session, so claimDriver and handOver need a client that is.',
      sessionNote,
    ],
  },
} as const satisfies { readonly [name: string]: CommandSpec }

const exportFormats = ['md', 'html', 'json', 'jsonl'] as const
const importFormats = ['auto', 'holdfast', 'minga', 'ggcode', 'picoclaw', 'claude-code', 'codex', 'pi'] as const

/** The commands that read, copy and repair whole stores, or move sessions between them. */
const storeSpecs = {
  export: {
    about: 'write a session as markdown, HTML, JSON or JSONL',
    positionals: ['<session>'],
    flags: {
      format: { value: 'format', choices: exportFormats, about: 'md (the default), html, json or jsonl' },
      redact: { about: 'leave out keys, tokens, e-mail addresses and home folders' },
      output: { short: 'o', value: 'file', about: 'write to this file, not to standard output' },
      force: { about: 'replace the file if it exists' },
      store,
      json: { about: 'same as --format json' },
    },
    notes: ['JSONL is complete: import reads it back, here or elsewhere.', sessionNote],
  },
  import: {
    about: 'import sessions of other programs, or of another Holdfast',
    positionals: ['<file or directory>', '[more…]'],
    flags: {
      from: { value: 'program', choices: importFormats, about: 'read files of this program (default: auto)' },
      quiet: { about: 'print errors only, not what was changed' },
      store,
      json,
    },
    notes: [
      `--from takes ${importFormats.join(', ')}; auto looks into each file.`,
      'The files are only read. A session imported twice is there once; messages added since the last import are added.',
      'Prints a line for each file with a session. What was changed goes to standard error.',
    ],
  },
  'mv-workspace': {
    about: 'move sessions to the new path of their folder',
    positionals: ['<from>', '<to>'],
    flags: { 'dry-run': dryRun, store, json },
    notes: [
      'Moves all sessions of <from> and of the folders below it. <from> need not exist; <to> must.',
      'Trust given in the old folder does not carry over.',
    ],
  },
  stats: {
    about: 'print usage by day, model and workspace',
    flags: { days: { value: 'n', range: [1, 3660], about: 'print the last n days (default: 30)' }, store, json },
    notes: ['Calls without a known price are counted as unpriced, not as free.'],
  },
  doctor: {
    about: 'check a store and repair it',
    flags: { repair: { about: 'repair it; save the damaged parts first' }, store, json },
    notes: [
      'Without --repair nothing is changed. Prints a line for each finding.',
      'Exit code 0: the store is sound, or was repaired. 1: it is damaged.',
    ],
  },
  backup: {
    about: 'copy the store, even while it is in use',
    positionals: ['<file or directory>'],
    flags: { store, json },
    notes: [
      'A SQLite store becomes one file with its blobs beside it, a jsonl store a directory. Nothing is replaced.',
      'The copy is a store: open it with --store, or put it in place of a lost one.',
    ],
  },
  migrate: {
    about: 'copy the store into another form and compare the two',
    flags: {
      to: { value: 'url', about: 'copy to sqlite:PATH or jsonl:DIR; needed' },
      from: { value: 'url', about: 'copy this store (default: the one in use)' },
      json,
    },
    notes: [
      '--to is empty, or was begun by an earlier migration. The old store is only read.',
      'A session that cannot be copied is listed, and the exit code is 1.',
    ],
  },
} as const satisfies { readonly [name: string]: CommandSpec }

/** The commands for the program itself: keys, models and the server. */
const programSpecs = {
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
      'login asks for the key without showing it, checks it with one free call and saves it to credentials.json in the config directory, readable by you alone. A key in the environment is used before one in the file.',
      'status shows at most the last four characters of a key. A running server uses a new key at once.',
    ],
  },
  models: {
    about: 'list the usable models, or refresh their prices and limits',
    positionals: ['[refresh]', '[file]'],
    flags: { all: { about: 'also list unusable models, and why they are' }, json },
    notes: [
      "refresh reads a file in the form of Holdfast's own list, or api.json of models.dev. Nothing is downloaded.",
      'A model with unknown facts can be used all the same.',
    ],
  },
  serve: {
    about: 'start the server and its page',
    flags: {
      host: { value: 'host', about: 'listen on this address (default: 127.0.0.1)' },
      port: { value: 'port', range: [0, 65_535], about: 'listen on this port (default: 4820; 0: any)' },
      store: { value: 'url', about: 'use this store: sqlite:PATH, jsonl:DIR or memory:' },
      mirror: { value: 'dir', about: 'also write each session of SQLite to a file here' },
      'title-model': { value: 'model', about: 'let this model title new sessions' },
      retention: { value: 'age', isAge: true, about: 'daily, move sessions inactive for this long to the trash' },
      'no-page': { about: 'serve the API only' },
    },
    notes: [
      'Prints a login link for the page; it works once. Ctrl-C stops the server, a second Ctrl-C kills it.',
      'To let others connect (--host), set HOLDFAST_TOKEN to a secret of at least 22 characters.',
      `Without --retention nothing is moved. ${ageNote}`,
    ],
  },
} as const satisfies { readonly [name: string]: CommandSpec }

/** Every command. Parser, help, suggestions and types come from this table; a command's code is loaded when it runs. */
export const commandTable = { ...sessionSpecs, ...storeSpecs, ...programSpecs }

export const commandGroups: readonly (readonly [string, { readonly [name: string]: CommandSpec }])[] = [
  ['Sessions', sessionSpecs],
  ['Stores', storeSpecs],
  ['Program', programSpecs],
]

export type CommandName = keyof typeof commandTable

export const commandNames = Object.keys(commandTable) as readonly CommandName[] // the keys of the table above

export const isCommandName = (text: string): text is CommandName => Object.hasOwn(commandTable, text)

type FlagValue<Flag> = Flag extends { readonly range: unknown } | { readonly isAge: true }
  ? number | undefined
  : Flag extends { readonly choices: readonly (infer Choice)[] }
    ? Choice | undefined
    : Flag extends { readonly value: string }
      ? string | undefined
      : boolean

/** The arguments of a command: a switch is a boolean; a flag that was not given is undefined. */
export type ArgsOf<Name extends CommandName> = {
  readonly positionals: readonly string[]
  readonly flags: {
    readonly [Flag in keyof (typeof commandTable)[Name]['flags']]: FlagValue<(typeof commandTable)[Name]['flags'][Flag]>
  }
}

/** The shape of every command: each file of `commands` exports one as `run`. */
export type RunCommand<Name extends CommandName> = (args: ArgsOf<Name>, context: CliContext) => Promise<CommandResult>
