import {
  addToMeta,
  clip,
  type EventOf,
  type EventType,
  limits,
  type Meta,
  noUsage,
  providerOf,
  type Recorded,
  type SessionId,
  statusOf,
  textOf,
} from '@holdfast/protocol'
import type { CatalogueEntry } from '../ports/catalogue.ts'
import { isAtWork, type SessionState } from './state.ts'
import { activityOf } from './view.ts'

/** The fold behind a catalogue row. Its size does not depend on the length of the session. */
export type EntryFold = {
  readonly entry: CatalogueEntry
  /** The last few messages, shortened, newest last: `recentText` is made of them. */
  readonly recent: readonly string[]
}

/** Returns the first row of a session: unlisted until someone speaks. */
export function newEntry(id: SessionId, at: string, started: EventOf<'session.started'>): EntryFold {
  const { handle, key, workdir, settings, background, fork } = started
  const parent = started.parent ?? fork?.lineage.at(-1)?.session
  const meta: Meta = {
    id,
    handle,
    ...(key !== undefined && { key }),
    title: settings.title ?? '',
    workspace: workdir,
    model: settings.model,
    provider: providerOf(settings.model),
    status: settings.mode === 'plan' ? 'plan' : 'idle',
    mode: settings.mode,
    createdAt: at,
    lastMessageAt: at,
    messageCount: fork?.messages ?? 0,
    turnCount: fork?.turns ?? 0,
    branchCount: 0,
    usage: noUsage,
    preview: fork?.preview ?? '',
    recentText: '',
    pinned: false,
    ...(parent !== undefined && { parent }),
    ...(background && { background }),
    ...(started.persist === false && { persist: false as const }),
    attachments: 0,
  }
  return { entry: { meta, spoken: fork !== undefined, busy: false, activeAt: Date.parse(at) }, recent: [] }
}

/** The events that make a session worth listing: someone spoke, or a program seeded messages. */
const speaks: ReadonlySet<EventType> = new Set(['user.said', 'text.said', 'message.given', 'checkpoint.written'])

/** Folds one record into the row; `state` is the session's state after that record. */
export function addToEntry({ entry, recent }: EntryFold, record: Recorded, state: SessionState): EntryFold {
  const { at, event } = record
  const isSpeech = event.type === 'user.said' || event.type === 'text.said'
  const text = isSpeech ? textOf(event).trim() : ''
  const before = event.type === 'line.moved' ? [] : recent // messages of the former line are no longer recent
  const heard =
    text === '' ? before : [...before, clip(text, limits.recentTextCharsMax)].slice(-limits.recentTextMessages)
  const { model, mode } = state.settings
  const meta = addToMeta(
    entry.meta,
    { model, mode, status: statusOf(mode, activityOf(state.turn)), branches: state.branches },
    record,
  )
  return {
    recent: heard,
    entry: {
      spoken: entry.spoken || speaks.has(event.type),
      busy: isAtWork(state),
      activeAt: isSpeech ? Date.parse(at) : entry.activeAt,
      meta: heard === recent ? meta : { ...meta, recentText: newestText(heard) },
    },
  }
}

/** Joins the newest messages that fit, oldest first. */
function newestText(recent: readonly string[]): string {
  let text = ''
  for (const one of recent.toReversed()) {
    const joined = text === '' ? one : `${one}\n${text}`
    if (joined.length > limits.recentTextCharsMax) return text === '' ? clip(one, limits.recentTextCharsMax) : text
    text = joined
  }
  return text
}
