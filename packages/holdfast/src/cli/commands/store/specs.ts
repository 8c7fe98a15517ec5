import type { CommandSpec } from '../../args/command-spec.ts'
import { dryRun, json, sessionNote, store, where } from '../../args/shared-flags.ts'

const exportFormats = ['md', 'html', 'json', 'jsonl'] as const
const importFormats = ['auto', 'holdfast', 'minga', 'ggcode', 'picoclaw', 'claude-code', 'codex', 'pi'] as const

/** The commands that read, copy and repair whole stores, or move sessions between them. */
export const storeSpecs = {
  export: {
    reads: true,
    about: 'write a session as markdown, HTML, JSON or JSONL',
    positionals: ['<session>'],
    flags: {
      format: {
        value: 'format',
        choices: exportFormats,
        about: 'md, html, json or jsonl (default: by the name of -o)',
      },
      redact: { about: 'leave out keys, tokens, e-mail addresses and home folders' },
      output: { short: 'o', value: 'file', about: 'write to this file, not to standard output' },
      force: { about: 'replace the file if it exists' },
      ...where,
      json: { about: 'same as --format json' },
    },
    notes: ['JSONL is complete: import reads it back, here or elsewhere.', sessionNote],
  },
  import: {
    about: 'import sessions of other programs, or of another Holdfast',
    whyNoUrl:
      'It writes to a store of this machine. A server takes files at POST /v1/import, and its page by the button Import.',
    positionals: ['<file or directory>', '[more…]'],
    flags: {
      from: { value: 'program', choices: importFormats, about: 'read files of this program (default: auto)' },
      'keep-settings': { about: 'keep instructions, provider options, permissions, trust' },
      quiet: { about: 'print errors only, not repairs' },
      list: { about: 'print every session and repair, not only some' },
      store,
      json,
    },
    notes: [
      `--from takes ${importFormats.join(', ')}; auto looks into each file.`,
      'The files are not changed. Importing a session again adds only its new messages.',
      'Prints a line for each of the first 20 sessions. The first 20 repairs, and files that are no session, are listed on standard error.',
    ],
  },
  'mv-workspace': {
    about: 'move sessions to the new path of their folder',
    whyNoUrl: 'It works on the files of a store. Run it on the machine of the server.',
    positionals: ['<from>', '<to>'],
    flags: { 'dry-run': dryRun, store, json },
    notes: [
      'Moves all sessions of <from> and of the folders below it. <from> need not exist; <to> must.',
      "With '' as <from>, moves the sessions that have no folder, as after some imports.",
      'Trust given in the old folder does not carry over.',
    ],
  },
  stats: {
    reads: true,
    about: 'print usage by day, model and workspace',
    flags: { days: { value: 'n', range: [1, 3660], about: 'print the last n days (default: 30)' }, ...where, json },
    notes: ['Calls without a known price are counted as unpriced, not as free.'],
  },
  doctor: {
    about: 'check a store; with --repair, repair it',
    whyNoUrl: 'It works on the files of a store. Run it on the machine of the server.',
    flags: { repair: { about: 'repair it; save the damaged parts first' }, store, json },
    notes: [
      'Without --repair nothing is changed. Prints a line for each finding.',
      'Exit code 0: the store is intact, or was repaired. 1: it is damaged.',
    ],
  },
  backup: {
    about: 'copy the store, even while it is in use',
    whyNoUrl: 'It works on the files of a store. Run it on the machine of the server.',
    positionals: ['<file or directory>'],
    flags: { store, json },
    notes: [
      'A SQLite store becomes one file with its blobs beside it, a jsonl store a directory. Existing files are never replaced.',
      'The copy is a store: open it with --store, or put it in place of a lost one.',
    ],
  },
  migrate: {
    about: 'copy the store into another form and compare the two',
    whyNoUrl: 'It works on the files of a store. Run it on the machine of the server.',
    flags: {
      to: { value: 'url', about: 'required: copy to sqlite:PATH, jsonl:DIR or postgres://…' },
      from: { value: 'url', about: 'copy this store (default: the one in use)' },
      json,
    },
    notes: [
      'The target must be empty, or come from an unfinished migration. The source is not changed.',
      'A session that cannot be copied is listed, and the exit code is 1.',
    ],
  },
} as const satisfies { readonly [name: string]: CommandSpec }
