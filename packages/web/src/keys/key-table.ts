/** Where a key works: everywhere, outside text fields, or only on the element that handles it. */
export type KeyPlace = 'everywhere' | 'outside fields' | 'on the element'

export type KeyGroup = 'Page' | 'Sessions' | 'A row of the list' | 'This session' | 'Writing' | 'Questions'

export type KeyEntry = {
  /** What it does, as the palette and the list of keys show it. */
  readonly text: string
  readonly group: KeyGroup
  /** `Ctrl` is Command on a Mac. A command without keys is in the palette only. */
  readonly keys: readonly string[]
  readonly place: KeyPlace
  /** Left out of the palette: it depends on where the focus is, or the palette itself does it. */
  readonly isOutOfPalette?: true
}

const everywhere = { place: 'everywhere' } as const
const outside = { place: 'outside fields' } as const
const local = { place: 'on the element', isOutOfPalette: true } as const

/**
 * Every key and command of the page. It feeds the palette, the list of keys and the hints in menus. Keys that browsers keep
 * (Ctrl+N, T, W, L, F, 1 to 9) are not used.
 */
export const keyTable = {
  palette: { text: 'Search everything', group: 'Page', keys: ['Ctrl+K'], ...everywhere, isOutOfPalette: true },
  help: { text: 'List all keys', group: 'Page', keys: ['?'], ...outside },
  settings: { text: 'Open the settings', group: 'Page', keys: ['Ctrl+,'], ...everywhere },
  toggleTheme: { text: 'Switch between light and dark', group: 'Page', keys: [], ...everywhere },
  notify: { text: 'Notify me when a session waits', group: 'Page', keys: [], ...everywhere },

  newSession: { text: 'New session', group: 'Sessions', keys: ['Ctrl+Shift+O'], ...everywhere },
  toggleList: { text: 'Show or hide the sessions', group: 'Sessions', keys: ['Ctrl+B'], ...everywhere },
  nextSession: { text: 'Next session', group: 'Sessions', keys: ['J'], ...outside },
  previousSession: { text: 'Previous session', group: 'Sessions', keys: ['K'], ...outside },
  nextWaiting: { text: 'Next session that waits', group: 'Sessions', keys: ['Shift+Alt+ArrowDown'], ...everywhere },
  previousWaiting: {
    text: 'Previous session that waits',
    group: 'Sessions',
    keys: ['Shift+Alt+ArrowUp'],
    ...everywhere,
  },
  waiting: { text: 'Questions that wait for you', group: 'Sessions', keys: ['Shift+Alt+W'], ...everywhere },
  search: { text: 'Search in the list', group: 'Sessions', keys: ['/'], ...outside },
  import: { text: 'Import sessions from files', group: 'Sessions', keys: [], ...everywhere },
  trash: { text: 'Open the trash', group: 'Sessions', keys: [], ...everywhere },
  undo: { text: 'Undo the last delete', group: 'Sessions', keys: ['Ctrl+Z'], ...outside },

  rowMenu: { text: 'Open the menu', group: 'A row of the list', keys: ['Shift+F10'], ...local },
  rowRename: { text: 'Rename', group: 'A row of the list', keys: ['F2'], ...local },
  rowPin: { text: 'Pin or unpin', group: 'A row of the list', keys: ['P'], ...local },
  rowFork: { text: 'Fork', group: 'A row of the list', keys: ['F'], ...local },
  rowExport: { text: 'Export', group: 'A row of the list', keys: ['E'], ...local },
  rowShare: { text: 'Share', group: 'A row of the list', keys: ['S'], ...local },
  rowDelete: { text: 'Move to the trash', group: 'A row of the list', keys: ['Delete'], ...local },

  focusInput: { text: 'Go to the message box', group: 'This session', keys: ['Shift+Escape'], ...everywhere },
  stop: { text: 'Stop the agent', group: 'This session', keys: ['Escape'], ...everywhere },
  togglePlan: { text: 'Switch between Plan and Exec', group: 'This session', keys: ['Ctrl+.'], ...everywhere },
  previousTurn: { text: 'Go to the turn before', group: 'This session', keys: ['Alt+ArrowUp'], ...outside },
  nextTurn: { text: 'Go to the next turn', group: 'This session', keys: ['Alt+ArrowDown'], ...outside },
  changes: { text: 'Show the changes of this session', group: 'This session', keys: ['Ctrl+Shift+D'], ...everywhere },
  model: { text: 'Choose the model', group: 'This session', keys: [], ...everywhere },
  thinking: { text: 'Choose the thinking level', group: 'This session', keys: [], ...everywhere },
  permissions: { text: 'Choose the permissions', group: 'This session', keys: [], ...everywhere },
  rewind: { text: 'Rewind to before the last prompt', group: 'This session', keys: [], ...everywhere },
  branch: { text: 'Branch from the turn before', group: 'This session', keys: [], ...everywhere },
  rename: { text: 'Rename this session', group: 'This session', keys: [], ...everywhere },
  pin: { text: 'Pin or unpin this session', group: 'This session', keys: [], ...everywhere },
  fork: { text: 'Fork this session', group: 'This session', keys: [], ...everywhere },
  share: { text: 'Share this session', group: 'This session', keys: [], ...everywhere },
  export: { text: 'Export this session', group: 'This session', keys: [], ...everywhere },
  delete: { text: 'Move this session to the trash', group: 'This session', keys: [], ...everywhere },

  send: { text: 'Send; while the agent works, steer it', group: 'Writing', keys: ['Enter'], ...local },
  followUp: { text: 'Send after the running turn', group: 'Writing', keys: ['Ctrl+Enter', 'Alt+Enter'], ...local },
  newLine: { text: 'Start a new line', group: 'Writing', keys: ['Shift+Enter'], ...local },
  recall: { text: 'Take the queue back into the box', group: 'Writing', keys: ['Alt+ArrowUp'], ...local },
  historyBack: { text: 'The prompt before, in an empty box', group: 'Writing', keys: ['ArrowUp'], ...local },
  historyForth: { text: 'The prompt after it', group: 'Writing', keys: ['ArrowDown'], ...local },

  approveOnce: { text: 'Yes, once', group: 'Questions', keys: ['Y'], ...local },
  approveTurn: { text: 'Yes, for this turn', group: 'Questions', keys: ['T'], ...local },
  approveSession: { text: 'Yes, for this session', group: 'Questions', keys: ['S'], ...local },
  approveAlways: { text: 'Yes, always', group: 'Questions', keys: ['A'], ...local },
  reject: { text: 'No', group: 'Questions', keys: ['N'], ...local },
  approveFirst: {
    text: 'Answer the first question with yes',
    group: 'Questions',
    keys: ['Shift+Alt+A'],
    ...everywhere,
  },
  rejectFirst: { text: 'Answer the first question with no', group: 'Questions', keys: ['Shift+Alt+X'], ...everywhere },
} as const satisfies { readonly [name: string]: KeyEntry }

export type KeyName = keyof typeof keyTable

export const keyNames = Object.keys(keyTable) as readonly KeyName[] // its own keys

/** Returns an entry, whatever its name. */
export const keyEntry = (name: KeyName): KeyEntry => keyTable[name]
