import { keepingTable } from './keeping-table.ts'
import { json, sessionNote, store } from './shared-flags.ts'

export type FlagSpec = {
  /** What its value is called in the help; a flag without one is a switch. */
  readonly takes?: string
  readonly short?: string
  readonly about: string
}

export type CommandSpec = {
  readonly about: string
  /** `<needed>`, `[optional]`, `[any number…]`, in order. */
  readonly words: readonly string[]
  /** What is said of words beyond those, where they must not be said back. */
  readonly tooMany?: string
  readonly flags: { readonly [name: string]: FlagSpec }
  /** What the help says beside the flags. */
  readonly notes?: readonly string[]
}

/** Every command of the program. Parser, help and suggestions all read this; each command's code is loaded when it runs. */
export const commandTable = {
  run: {
    about: 'one turn, without a user interface',
    words: ['[prompt]'],
    flags: {
      session: { short: 's', takes: 'session', about: 'go on in this session instead of a new one' },
      model: { takes: 'provider/model', about: 'the model of the new session' },
      workdir: { takes: 'dir', about: 'where the new session works (default: here)' },
      yes: { about: 'approve every call that asks' },
      no: { about: 'refuse every call that asks (the default)' },
      plan: { about: 'plan only: nothing is changed' },
      store,
      json: { about: 'print one frame a line, the result last' },
    },
    notes: [
      'Without a prompt, or with -, the prompt is read from standard input.',
      'Exit code 0: the turn came to its end. 1: it failed. 130: it was interrupted.',
      sessionNote,
    ],
  },
  ls: {
    about: 'list sessions, pinned ones first, then the latest',
    words: [],
    flags: {
      all: { about: 'of every workspace, not only this one' },
      workspace: { takes: 'dir', about: 'of that workspace' },
      search: { takes: 'text', about: 'with these words in title, preview or recent text' },
      model: { takes: 'provider/model', about: 'with this model' },
      age: { takes: 'age', about: 'in which someone spoke within this time: 90m, 12h, 7d or 2w' },
      pinned: { about: 'only pinned ones' },
      running: { about: 'only those at work' },
      limit: { takes: 'n', about: 'at most so many (default: 50)' },
      cursor: { takes: 'cursor', about: 'go on where an earlier list ended ("next" in its JSON)' },
      store,
      json,
    },
  },
  show: {
    about: 'print a transcript',
    words: ['<session>'],
    flags: {
      limit: { takes: 'n', about: 'only the newest so many messages' },
      branch: { takes: 'name', about: 'a line that was left and kept, instead of the one the session stands on' },
      store,
      json,
    },
    notes: [sessionNote],
  },
  search: {
    about: 'find messages by their words',
    words: ['<text>', '[more…]'],
    flags: {
      all: { about: 'in every workspace, not only this one' },
      workspace: { takes: 'dir', about: 'in that workspace' },
      session: { short: 's', takes: 'session', about: 'in this session' },
      role: { takes: 'role', about: 'said by user, assistant, tool or system' },
      tool: { takes: 'name', about: 'calls of this tool and what they returned' },
      since: { takes: 'when', about: 'from then on: a date (2026-01-31) or an age (90m, 12h, 7d, 2w)' },
      until: { takes: 'when', about: 'before then' },
      limit: { takes: 'n', about: 'at most so many (default: 20)' },
      cursor: { takes: 'cursor', about: 'go on where an earlier search ended ("next" in its JSON)' },
      store,
      json,
    },
    notes: [
      'All words must occur; word* is the beginning of one, "a phrase" words in a row. The newest 1,000 messages that',
      'match are ranked, the best first.',
      sessionNote,
    ],
  },
  branch: {
    about: 'keep the line so far as a branch, and stand at the end of a turn',
    words: ['<session>', '<turn>'],
    flags: { store, json },
    notes: ['Prints the name of the branch that was kept. Turns count from 0.', sessionNote],
  },
  branches: {
    about: 'list the lines that were left and kept',
    words: ['<session>'],
    flags: { store, json },
    notes: [sessionNote],
  },
  switch: {
    about: 'take up a branch, and keep the line that is left',
    words: ['<session>', '<branch>'],
    flags: { store, json },
    notes: ['A branch is given by its name or its index, as branches lists them. Prints its name.', sessionNote],
  },
  rewind: {
    about: 'stand at the end of a turn again, and keep what came after as a branch',
    words: ['<session>', '<turn>'],
    flags: { store, json },
    notes: ['Prints the name of the branch that was kept. Turns count from 0. Files stay as they are.', sessionNote],
  },
  fork: {
    about: 'start a new session that shares the past of this one',
    words: ['<session>'],
    flags: { at: { takes: 'turn', about: 'up to the end of this turn (default: the last that ended)' }, store, json },
    notes: ['Prints the id of the new session. Turns count from 0.', sessionNote],
  },
  export: {
    about: 'write a session out as markdown, HTML, JSON or JSONL',
    words: ['<session>'],
    flags: {
      format: {
        takes: 'md|html|json|jsonl',
        about: 'markdown (the default), one page of HTML, JSON, or all of it as JSONL',
      },
      redact: { about: 'leave out what looks like a key, a token, an e-mail address or a home directory' },
      output: { short: 'o', takes: 'file', about: 'to this file instead of standard output' },
      force: { about: 'replace the file if there is one' },
      store,
      json: { about: 'the same as --format json' },
    },
    notes: ['JSONL is the form without loss: import takes it back, here or elsewhere.', sessionNote],
  },
  import: {
    about: 'take over sessions of other programs, or of another Holdfast',
    words: ['<file or directory>', '[more…]'],
    flags: {
      from: {
        takes: 'auto|holdfast|minga|ggcode|picoclaw|claude-code|codex|pi',
        about: 'the program they are of (default: auto, by what is in them)',
      },
      quiet: { about: 'say only what went wrong, not what was changed' },
      store,
      json,
    },
    notes: [
      'The files are only read. The same session twice is the same session once; one that has grown since gets what is new.',
      'Prints a line for each file that holds a session, and what was changed on the way to standard error.',
    ],
  },
  ...keepingTable,
  tell: {
    about: 'give a session a command',
    words: ['<session>', '<command>', '[name=value…]'],
    flags: { store, json },
    notes: [
      'Say: sendPrompt, queueSteering, queueFollowUp content=…',
      'Queue: recallQueues, clearQueues, dequeueSteering, editQueueEntry entry=N content=…, removeQueueEntry entry=N,',
      '  reorderQueue queue=steering|follow_up entries=[N,…]',
      'Approvals: respondToApproval decision=approve|approve_turn|approve_session|approve_always|reject [approval=N]',
      '  [message=…], setToolTrust tool=… scope=turn|session|workspace [argsHash=…], revokeToolTrust tool=…|all',
      'Turn: abort, continue, enterPlan, enterExec [keepPlan=true]',
      'Model: setModel model=…, cycleModel [direction=next|previous], setThinkingLevel level=off|low|medium|high,',
      '  cycleThinkingLevel, refreshCredentials',
      'Lines: branchAt turn=N, switchBranch branch=NAME|N, rewind turn=N, fork [at=N]',
      'Messages: togglePin message=N, toggleToolCollapse message=N, toggleAllToolCollapses,',
      '  addSystemMessage text=… [level=info|error], seedMessages messages=[{"role":"user","content":"…"},…]',
      'Context: compact, undoCompaction, summarize, setSummary summary=…, truncateHistory keepLast=N,',
      '  setHistory messages=[…], appendCheckpoint messages=[…] [tokenCount=N]',
      'Keeping: rename title=…, pinSession [pinned=true|false], moveWorkdir workdir=…',
      'Seat: claimDriver, handOver client=…; for clients that are attached, which tell never is.',
      'A value that is JSON is taken as JSON, anything else as text.',
      sessionNote,
    ],
  },
  stats: {
    about: 'how much was said, used and kept',
    words: [],
    flags: { days: { takes: 'n', about: 'days to show, today the last (default: 30)' }, store, json },
    notes: ['A price nobody knows is not counted as 0: such calls are counted as unpriced.'],
  },
  doctor: {
    about: 'check a store, and mend what can be mended',
    words: [],
    flags: {
      repair: { about: 'mend it; what is damaged is kept aside first' },
      store,
      json,
    },
    notes: [
      'Without --repair nothing is changed. Prints a line for each finding.',
      'Exit code 0: nothing is wrong, or all of it was mended. 1: something is.',
    ],
  },
  backup: {
    about: 'copy the store as it is now, while others write in it',
    words: ['<file or directory>'],
    flags: { store, json },
    notes: [
      'A SQLite store becomes one file with its blobs beside it, a jsonl store a directory. Nothing is replaced.',
      'The copy is a store: use it with --store, or put it in the place of the one that was lost.',
    ],
  },
  migrate: {
    about: 'copy the store into another form, and compare the two',
    words: [],
    flags: {
      to: { takes: 'url', about: 'sqlite:PATH or jsonl:DIR; empty, or what an earlier migration began' },
      from: {
        takes: 'url',
        about: 'the store to copy (default: HOLDFAST_STORE, else the store of the data directory)',
      },
      json,
    },
    notes: ['The store it copies is only read. A session that cannot be copied is named, and the exit code is then 1.'],
  },
  auth: {
    about: 'keep the keys of providers: add one, remove one, or see which there are',
    words: ['[login/logout/status]', '[provider]'],
    tooMany:
      'A key is not given as a word: others could read it in the list of processes. Leave it out and it is asked for, or give it with --key-stdin.',
    flags: {
      'base-url': { takes: 'url', about: 'login: the address the key is for, if it is not the usual one' },
      'key-stdin': { about: 'login: read the key from standard input instead of asking for it' },
      'no-check': { about: 'login: keep the key without asking the provider whether it knows it' },
      check: { about: 'status: ask each provider whether it knows its key' },
      json,
    },
    notes: [
      'A key is asked for hidden, checked with one call that costs nothing, and kept in credentials.json of the config',
      'directory, readable by you alone. A key in the environment goes before one in the file.',
      'status shows at most the last four characters of a key. A running server knows of a change at once.',
    ],
  },
  models: {
    about: 'list the models that can be used now, or take a newer list of what is known of them',
    words: ['[refresh]', '[file]'],
    flags: { all: { about: 'also those that cannot be used now, and why' }, json },
    notes: [
      'refresh takes a file in the form of the project’s own list, or the api.json of models.dev; nothing is fetched.',
      'What nobody knows of a model is shown as unknown; the model can be used all the same.',
    ],
  },
  serve: {
    about: 'the server and its page',
    words: [],
    flags: {
      host: { takes: 'host', about: 'where to listen (default: 127.0.0.1)' },
      port: { takes: 'port', about: 'on which port (default: 4820; 0 takes any)' },
      store: {
        takes: 'url',
        about: 'sqlite:PATH, jsonl:DIR or memory: (default: HOLDFAST_STORE, else the store of the data directory)',
      },
      mirror: { takes: 'dir', about: 'keep every session of the SQLite store as a plain file here too' },
      'title-model': {
        takes: 'provider/model',
        about: 'a model that names sessions nobody named, after their first turn',
      },
      retention: {
        takes: 'age',
        about: 'put sessions into the trash in which nobody spoke for so long, once a day (default: never)',
      },
      'no-page': { about: 'serve the API only' },
    },
    notes: [
      'Prints the address of the page with a login link that works once. Ctrl-C stops it; a second one, at once.',
      'To let others in (--host), set HOLDFAST_TOKEN to a secret of at least 22 characters.',
    ],
  },
} as const satisfies { readonly [name: string]: CommandSpec }

export type CommandName = keyof typeof commandTable

export const commandNames = Object.keys(commandTable) as readonly CommandName[] // the keys of the table above

export const isCommandName = (text: string): text is CommandName => Object.hasOwn(commandTable, text)

type Given<Flag> = Flag extends { readonly takes: string } ? string | undefined : boolean

/** What a command was given: a switch is a boolean, a flag with a value its text if it was there. */
export type ArgsOf<Name extends CommandName> = {
  readonly words: readonly string[]
  readonly flags: {
    readonly [Flag in keyof (typeof commandTable)[Name]['flags']]: Given<(typeof commandTable)[Name]['flags'][Flag]>
  }
}
