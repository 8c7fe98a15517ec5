import { limits } from '@holdfast/protocol/limits'
import type { CommandSpec } from '../../args/command-spec.ts'
import { ageNote, dryRun, json, listCursor, listLimit, sessionNote, where } from '../../args/shared-flags.ts'
import { tellCommands } from './tell-help.ts'

const tellRows = Object.entries(tellCommands).map(
  ([type, [fields, about]]) => [`${type} ${fields}`.trimEnd(), about] as const,
)

export const boundaryExample = 'holdfast boundary @latest src/app.ts 3-9'

const turnNote = 'Turns count from 0.'
const trashNote = 'Sessions in the trash can be restored for 30 days.'

/** The flags of a prompt in a new session. */
const newPromptFlags = {
  model: { value: 'model', about: 'use this model (provider/model) in the new session' },
  workdir: { value: 'dir', about: 'work here (default: .); with -s: if it has no folder yet' },
  yes: { about: 'approve every tool call that asks for approval' },
  no: { about: 'reject every tool call that asks for approval' },
  plan: { about: 'plan only; change nothing' },
  ...where,
  json: { about: 'print one JSON object a line, the result last' },
} as const

/** The commands that start, read and change sessions. */
export const sessionSpecs = {
  run: {
    about: 'send one prompt and print the answer',
    positionals: ['[prompt]'],
    flags: {
      session: { short: 's', value: 'session', about: 'continue this session instead of a new one' },
      continue: { short: 'c', about: 'continue the latest session of this folder' },
      ...newPromptFlags,
    },
    exclusive: [
      ['yes', 'no'],
      ['session', 'continue'],
    ],
    notes: [
      'Without a prompt, or with -, run reads the prompt from standard input. With a prompt, what is piped in is added to it.',
      'At a terminal, run asks you about each tool call that needs approval: y once, t this turn, s this session, a always in this folder, n no. Elsewhere it rejects them without --yes.',
      'Exit code 0: the turn ended. 1: it failed. 130: it was interrupted.',
      sessionNote,
    ],
  },
  new: {
    about: 'start a session with a prompt and print the answer',
    positionals: ['<prompt>'],
    flags: { ...newPromptFlags, workdir: { value: 'dir', about: 'work here (default: .)' } },
    exclusive: [['yes', 'no']],
    notes: ['The same as run, which can also continue a session. holdfast help run says more.'],
  },
  attach: {
    about: 'follow a session live, and drive it from this terminal',
    positionals: ['<session>'],
    flags: {
      view: { about: 'only watch; send nothing' },
      ...where,
      json: { about: 'print each frame as a line of JSON' },
    },
    notes: [
      'A line you type is a prompt; while a turn runs, it steers the turn. A line that begins with / is a slash command. Ctrl-D leaves; piped input leaves at its end, once no turn runs.',
      '--view reads no input and follows until Ctrl-C.',
      'At a question, also one of a subagent, y approves, n rejects and s approves for this session.',
      'Ctrl-C aborts the turn that you drive; a second Ctrl-C leaves. If another client drives, you watch. /drive takes control.',
      'Without a server, attach reaches the process that runs the session, or runs it itself.',
      sessionNote,
    ],
  },
  ls: {
    reads: true,
    about: 'list sessions: pinned first, then by latest message',
    flags: {
      all: { about: 'list sessions of every workspace, not only this one' },
      workspace: { value: 'dir', about: 'list sessions of this workspace' },
      search: { value: 'text', about: 'match words in title, preview or recent text' },
      model: { value: 'model', about: 'list sessions with this model' },
      age: { value: 'age', isAge: true, about: 'list sessions with a message in the last <age>' },
      pinned: { about: 'list pinned sessions only' },
      running: { about: 'list running sessions only' },
      waiting: { about: 'list sessions that wait for an approval only' },
      utc: { about: 'print the time of the last message in UTC, not its age' },
      limit: listLimit,
      cursor: listCursor,
      ...where,
      json,
    },
    exclusive: [['all', 'workspace']],
    notes: [ageNote],
  },
  show: {
    reads: true,
    about: 'print the transcript of a session',
    positionals: ['<session>'],
    flags: {
      limit: { value: 'n', range: [1, 1_000_000], about: 'print only the newest n messages' },
      branch: { value: 'branch', about: 'print this branch instead of the current line' },
      utc: { about: 'print times in UTC, not in the local time zone' },
      ...where,
      json,
    },
    notes: [sessionNote],
  },
  search: {
    reads: true,
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
      ...where,
      json,
    },
    exclusive: [['all', 'workspace']],
    notes: [
      'All words must occur. harb* matches words that begin with harb; "a phrase" matches these words in a row. The newest 1,000 matches are ranked, best first.',
      '--role takes user, assistant, tool or system.',
      ageNote,
      sessionNote,
    ],
  },
  shells: {
    reads: true,
    about: 'list or stop the commands in the background of a session',
    positionals: ['<session>'],
    flags: { stop: { value: 'id', about: 'end the command with this ID, and all its processes' }, ...where, json },
    notes: ['Shows what runs in the server. Commands end with their session.', sessionNote],
  },
  files: {
    reads: true,
    about: 'list the files that a session changed',
    positionals: ['<session>'],
    flags: { ...where, json },
    notes: ['Each file is listed once, with its newest change. holdfast diff shows the changes.', sessionNote],
  },
  boundary: {
    reads: true,
    about: 'list, set or clear the lines that tools may change',
    positionals: ['<session>', '[path]', '[lines]'],
    tooMany: `boundary takes a session, a file and lines, such as: ${boundaryExample}`,
    flags: { clear: { about: 'remove the boundary of the file; without path, all' }, ...where, json },
    notes: [
      '<lines> is 3-9, or 3 for one line, counted from 1. With --json, lines count from 0, as in the API.',
      sessionNote,
    ],
  },
  diff: {
    reads: true,
    about: 'show what a session changed in files',
    positionals: ['<session>', '[path]'],
    flags: {
      turn: { value: 'turn', range: [0, 999_999_999], about: 'show only the changes of this turn' },
      ...where,
      json,
    },
    notes: [
      `Prints one unified diff: from before the first change to the files as they are now. ${turnNote}`,
      sessionNote,
    ],
  },
  branch: {
    about: 'go back to the end of a turn; save a branch',
    positionals: ['<session>', '<turn>'],
    flags: { ...where, json },
    notes: [
      `Saves the current messages as a branch and prints its name. The session continues from the end of the turn. ${turnNote}`,
      sessionNote,
    ],
  },
  branches: {
    reads: true,
    about: 'list the branches of a session',
    positionals: ['<session>'],
    flags: { ...where, json },
    notes: [sessionNote],
  },
  switch: {
    about: 'switch to a branch; save the current line as a branch',
    positionals: ['<session>', '<branch>'],
    flags: { ...where, json },
    notes: ['<branch> is a name or an index from holdfast branches. Prints the name of the branch.', sessionNote],
  },
  rewind: {
    about: 'like branch, but record that the later turns were wrong',
    positionals: ['<session>', '[turn]'],
    flags: {
      files: { about: 'also put files back that tools changed since the turn' },
      preview: { about: 'with --files or --undo: show what would change' },
      undo: { about: 'undo the last restore of files; messages stay' },
      ...where,
      json,
    },
    notes: [
      `Prints the name of the new branch. ${turnNote} Without --files, files stay as they are.`,
      'With --files, each file becomes what it was at the end of the turn, if nobody else changed it since. To get the messages back, use holdfast switch.',
      'Files that changed while a background command ran stay, because others may have changed them. To put one back, name it: holdfast tell <session> restoreFiles message=1 \'paths=["a.ts"]\'.',
      'With --files and without a turn, files become what they were before the session; messages stay.',
      sessionNote,
    ],
  },
  fork: {
    about: "start a new session that shares this session's history",
    positionals: ['<session>'],
    flags: {
      at: { value: 'turn', range: [0, 999_999_999], about: 'share up to this turn (default: the last finished turn)' },
      ...where,
      json,
    },
    notes: [`Prints the handle of the new session. ${turnNote}`, sessionNote],
  },
  rename: {
    about: 'set the title of a session',
    positionals: ['<session>', '<title>'],
    flags: { ...where, json },
    notes: ["The title '' resets it to the first line of the first prompt.", sessionNote],
  },
  pin: {
    about: 'list a session first; protect it from prune and rm --all',
    positionals: ['<session>'],
    flags: { off: { about: 'unpin it' }, ...where, json },
    notes: [sessionNote],
  },
  rm: {
    about: 'move sessions to the trash',
    positionals: ['[session…]'],
    flags: {
      force: { about: 'stop running or attached sessions first; --all: pinned too' },
      forever: { about: 'delete permanently, in the trash or not; no way back' },
      yes: { about: 'with --forever: do not ask first' },
      all: { about: 'move all but running, attached or pinned sessions' },
      workspace: { value: 'dir', about: 'with --all: only sessions of this workspace' },
      'dry-run': dryRun,
      ...where,
      json,
    },
    notes: [
      `Prints the handles of the sessions it moved, one a line. ${trashNote}`,
      'At a terminal, --forever asks first.',
      sessionNote,
    ],
  },
  prune: {
    about: 'move inactive sessions to the trash',
    flags: {
      'older-than': { value: 'age', isAge: true, about: 'required: move sessions without a message for this long' },
      all: { about: 'prune every workspace, not only this one' },
      workspace: { value: 'dir', about: 'prune this workspace' },
      'dry-run': dryRun,
      ...where,
      json,
    },
    exclusive: [['all', 'workspace']],
    notes: [`Skips running, attached and pinned sessions, and lists them. ${trashNote}`, ageNote],
  },
  trash: {
    reads: true,
    about: 'list, restore or delete the sessions in the trash',
    positionals: ['[list/restore/empty]', '[session]'],
    flags: {
      all: { about: 'with restore: restore every session in the trash' },
      yes: { about: 'with empty: do not ask first' },
      'older-than': { value: 'age', isAge: true, about: 'with empty: delete only sessions trashed longer ago' },
      limit: listLimit,
      cursor: listCursor,
      'dry-run': dryRun,
      ...where,
      json,
    },
    notes: [
      'empty deletes permanently; at a terminal it asks first. Sessions are deleted automatically after 30 days in the trash.',
      ageNote,
    ],
  },
  share: {
    about: 'print a link that shows one session, read-only',
    positionals: ['<session>'],
    flags: {
      name: { value: 'name', about: 'what to call the link in token list (default: link)' },
      expires: { value: 'age', isAge: true, about: 'end the link by itself after this time' },
      qr: { about: 'also print the link as a code for a phone' },
      ...where,
      json,
    },
    notes: [
      'Needs a running server, of this home or at --url with an admin token. The link is a viewer token for this session; holdfast token revoke ends it.',
      ageNote,
      sessionNote,
    ],
  },
  tell: {
    about: 'send a command to a session',
    positionals: ['<session>', '<command>', '[name=value…]'],
    flags: { 'no-wait': { about: 'do not wait for the turn that starts or goes on' }, ...where, json },
    list: { heading: 'Commands:', rows: tellRows },
    notes: [
      'A value that is JSON is read as JSON, anything else as text.',
      'If a turn starts or goes on after the command, tell shows it, as run does. With --no-wait or --json, tell prints the answer to the command only.',
      'tell does not attach to the session, so it cannot send claimDriver or handOver.',
      sessionNote,
    ],
  },
} as const satisfies { readonly [name: string]: CommandSpec }
