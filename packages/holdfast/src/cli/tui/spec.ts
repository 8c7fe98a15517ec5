import type { CommandSpec } from '../args/command-spec.ts'
import { sessionNote, where } from '../args/shared-flags.ts'

/** The terminal UI has no command: it is the program itself. */
export const tuiName = 'holdfast'

/** The flags of the terminal UI: `holdfast` without a command. */
export const tuiSpec = {
  about: 'work with the agent in this terminal',
  positionals: ['[session]'],
  flags: {
    continue: { short: 'c', about: 'continue the latest session of this folder' },
    resume: { short: 'r', about: 'choose a session from a list' },
    model: { value: 'model', about: 'use this model (provider/model) in the new session' },
    plan: { about: 'plan only; change nothing' },
    mouse: { about: 'use the mouse in lists; the main screen leaves it alone' },
    plain: { about: 'print lines only, for screen readers; also with TERM=dumb' },
    ...where,
  },
  exclusive: [['continue', 'resume']],
  notes: ['Without a session it starts a new one here. Press ? for the keys.', sessionNote],
} as const satisfies CommandSpec
