import { type CatalogueCommand, type Event, ok, type Result, refuse } from '@holdfast/protocol'
import type { Facts, Report } from '../input.ts'
import type { SessionState } from '../state.ts'
import { turnRunning } from './prompt.ts'

type CommandOf<Type extends CatalogueCommand['type']> = Extract<CatalogueCommand, { type: Type }>

export function pinSession({ isPinned }: SessionState, command: CommandOf<'pinSession'>): readonly Event[] {
  const pinned = command.pinned ?? !isPinned
  return pinned === isPinned ? [] : [{ type: 'settings.changed', pinned }]
}

export function rename({ settings }: SessionState, { title }: CommandOf<'rename'>): readonly Event[] {
  return title === (settings.title ?? '') ? [] : [{ type: 'settings.changed', title }]
}

/** Sets the title that a model wrote, unless a person has named the session or removed its name. */
export function nameIt(
  { settings }: SessionState,
  { title, model, usage }: Extract<Report, { type: 'title.written' }>,
): readonly Event[] {
  return settings.title === undefined ? [{ type: 'settings.changed', title, named: { model, usage } }] : []
}

/** Moves an idle session to another folder: a turn must end in the folder it began in. */
export function moveWorkdir(
  { turn, origin }: SessionState,
  command: CommandOf<'moveWorkdir'>,
  { workdir = command.workdir }: Facts,
): Result<readonly Event[]> {
  if (turn.phase !== 'idle') return refuse(turnRunning)
  return ok(workdir === origin?.workdir ? [] : [{ type: 'settings.changed', workdir }])
}
