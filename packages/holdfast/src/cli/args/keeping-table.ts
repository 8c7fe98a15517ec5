import { dryRun, json, sessionNote, store } from './shared-flags.ts'

const trashNote = 'What is in the trash can be restored for 30 days.'
const ageNote = 'An age is written 90m, 12h, 30d or 2w.'

/** The commands by which sessions are kept and dropped. */
export const keepingTable = {
  rename: {
    about: 'name a session',
    words: ['<session>', '<title>'],
    flags: { store, json },
    notes: ["With '' as its title it goes by the first line of its first prompt again.", sessionNote],
  },
  pin: {
    about: 'list a session first, and keep it from prune and rm --all',
    words: ['<session>'],
    flags: { off: { about: 'no longer' }, store, json },
    notes: [sessionNote],
  },
  rm: {
    about: 'put sessions into the trash',
    words: ['[session…]'],
    flags: {
      force: { about: 'also one that runs or that someone is attached to: it is stopped first' },
      all: { about: 'all of every workspace, but what runs, is attended or pinned' },
      workspace: { takes: 'dir', about: 'with --all: only those of that workspace' },
      'dry-run': dryRun,
      store,
      json,
    },
    notes: ['Prints the handles of those that went, a line each.', trashNote, sessionNote],
  },
  prune: {
    about: 'put sessions into the trash in which nobody spoke for long',
    words: [],
    flags: {
      'older-than': { takes: 'age', about: 'how long nobody spoke; needed' },
      all: { about: 'of every workspace, not only this one' },
      workspace: { takes: 'dir', about: 'of that workspace' },
      'dry-run': dryRun,
      store,
      json,
    },
    notes: ['What runs, is attended or pinned stays, and is named.', trashNote, ageNote],
  },
  trash: {
    about: 'list what is in the trash, restore it, or empty it',
    words: ['[list/restore/empty]', '[session]'],
    flags: {
      'older-than': { takes: 'age', about: 'empty: only what is there for longer' },
      limit: { takes: 'n', about: 'list: at most so many (default: 50)' },
      cursor: { takes: 'cursor', about: 'list: go on where an earlier list ended ("next" in its JSON)' },
      'dry-run': dryRun,
      store,
      json,
    },
    notes: ['What is emptied is gone for good. What is older than 30 days goes by itself.', ageNote],
  },
  'mv-workspace': {
    about: 'let the sessions of a folder work in another one: it was moved',
    words: ['<from>', '<to>'],
    flags: { 'dry-run': dryRun, store, json },
    notes: [
      'Takes all sessions of <from> and of the folders below it. <from> need not exist any more, <to> must.',
      'What the former folder trusts is not carried over.',
    ],
  },
} as const
