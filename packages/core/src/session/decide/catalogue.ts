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

/** A model's title is for a session that has none: a person who named it, or took its name away, knows better. */
export function nameIt(
  { settings }: SessionState,
  { title, model, usage }: Extract<Report, { type: 'title.written' }>,
): readonly Event[] {
  return settings.title === undefined ? [{ type: 'settings.changed', title, named: { model, usage } }] : []
}

/** Only at rest: what a turn has begun in one folder it must not end in another. */
export function moveWorkdir(
  { turn, origin }: SessionState,
  command: CommandOf<'moveWorkdir'>,
  { workdir = command.workdir }: Facts,
): Result<readonly Event[]> {
  if (turn.phase !== 'idle') return refuse(turnRunning)
  return ok(workdir === origin?.workdir ? [] : [{ type: 'settings.changed', workdir }])
}
