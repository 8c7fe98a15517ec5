/** What a key does on the main screen. */
export type KeyAction =
  | 'send'
  | 'followUp'
  | 'newline'
  | 'recall'
  | 'abort'
  | 'mode'
  | 'cycleModel'
  | 'thinking'
  | 'transcript'
  | 'sessions'
  | 'editor'
  | 'pasteImage'
  | 'takeOver'
  | 'answer'
  | 'clear'
  | 'leave'
  | 'redraw'
  | 'suspend'
  | 'files'
  | 'help'

/** One line of the help: the keys as the decoder names them, what is shown, and what they do. */
export type KeyRow = {
  readonly action: KeyAction
  readonly keys: readonly string[]
  readonly shown: string
  readonly about: string
}

/** Every key of the main screen besides those that edit text. The help and the tests are made from this table. */
export const keyTable: readonly KeyRow[] = [
  { action: 'send', keys: ['enter'], shown: 'Enter', about: 'send; while a turn runs, steer it' },
  {
    action: 'followUp',
    keys: ['alt+enter', 'ctrl+enter'],
    shown: 'Alt+Enter, Ctrl+Enter',
    about: 'send as the next turn',
  },
  {
    action: 'newline',
    keys: ['ctrl+j', 'shift+enter'],
    shown: 'Ctrl+J, Shift+Enter',
    about: 'new line; also \\ then Enter',
  },
  { action: 'recall', keys: ['alt+up'], shown: 'Alt+Up', about: 'take queued prompts back into the input' },
  { action: 'abort', keys: ['esc'], shown: 'Esc', about: 'stop the turn; twice when idle: go back to a turn' },
  { action: 'mode', keys: ['shift+tab'], shown: 'Shift+Tab', about: 'plan only, or let tools change things' },
  { action: 'cycleModel', keys: ['ctrl+p'], shown: 'Ctrl+P', about: 'next model, or choose one' },
  { action: 'thinking', keys: ['ctrl+t'], shown: 'Ctrl+T', about: 'next thinking level' },
  { action: 'transcript', keys: ['ctrl+o'], shown: 'Ctrl+O', about: 'whole transcript; opens and folds tool calls' },
  { action: 'sessions', keys: ['ctrl+r'], shown: 'Ctrl+R', about: 'sessions: search, preview, open' },
  { action: 'files', keys: ['ctrl+f'], shown: 'Ctrl+F', about: 'files that the session changed' },
  { action: 'editor', keys: ['ctrl+g'], shown: 'Ctrl+G', about: 'write the prompt in $VISUAL or $EDITOR' },
  { action: 'pasteImage', keys: ['ctrl+v'], shown: 'Ctrl+V', about: 'paste the image of the clipboard' },
  { action: 'takeOver', keys: ['ctrl+x'], shown: 'Ctrl+X', about: 'take over from another screen' },
  { action: 'answer', keys: ['tab'], shown: 'Tab', about: 'complete; or answer the question above' },
  { action: 'clear', keys: ['ctrl+c'], shown: 'Ctrl+C', about: 'clear the input, stop the turn; twice: leave' },
  { action: 'leave', keys: ['ctrl+d'], shown: 'Ctrl+D', about: 'leave, if the input is empty' },
  { action: 'redraw', keys: ['ctrl+l'], shown: 'Ctrl+L', about: 'draw the screen again' },
  { action: 'suspend', keys: ['ctrl+z'], shown: 'Ctrl+Z', about: 'suspend; fg comes back' },
  { action: 'help', keys: ['?'], shown: '?', about: 'these keys, if the input is empty' },
]

const byKey = new Map(keyTable.flatMap(({ action, keys }) => keys.map((key) => [key, action] as const)))

/** Returns what a key does; null if it edits text or does nothing. */
export const actionOf = (key: string): KeyAction | null => byKey.get(key) ?? null

/** Keys of a question that waits, for the help. */
export const approvalKeys: readonly (readonly [string, string])[] = [
  ['y', 'allow it once'],
  ['t', 'allow it until the turn ends'],
  ['s', 'allow it in this session'],
  ['a', 'always allow it in this folder'],
  ['n', 'no; then write why, or just press Enter'],
  ['v', 'show all of it'],
  ['Tab', 'write something first; any other letter does so too'],
]

/** Keys that edit the input, for the help. */
export const editingKeys: readonly (readonly [string, string])[] = [
  ['Up, Down', 'move; at the first or last row: earlier prompts'],
  ['Ctrl+A, Ctrl+E', 'start and end of the line'],
  ['Alt+B, Alt+F', 'a word back and forth'],
  ['Ctrl+W, Alt+D', 'delete a word before and after'],
  ['Ctrl+U, Ctrl+K', 'delete to the start and the end of the line'],
  ['Ctrl+Y', 'insert what was deleted last'],
  ['Ctrl+_', 'undo'],
  ['/', 'slash commands, with completion'],
  ['@', 'names of files, with completion'],
]
