import { type Connection, contextUsageOf, type LiveView } from '@holdfast/client'
import { providerOf } from '@holdfast/protocol'
import { cutLine, lineWidth, type StyledLine, shownLine, span, styles } from '../term/lines.ts'
import { costText, tokensText } from './format.ts'

/** What the status line shows. */
export type StatusFacts = Pick<
  LiveView,
  'view' | 'meta' | 'here' | 'presence' | 'client' | 'connection' | 'storageError'
>

/** A part of the status line. The least important, those with the highest rank, are left out if there is no room. */
type Part = {
  readonly line: StyledLine
  readonly rank: number /** For a narrow terminal. */
  readonly short?: StyledLine
}

/** Returns the status line: mode, activity, model, thinking level, context, cost, who drives, edit boundaries. */
export function statusRow(facts: StatusFacts, width: number, hint: string): StyledLine {
  const { view, meta } = facts
  if (!view || !meta) return cutLine([span('  opening…', styles.dim)], width)
  const [model, context, role] = [modelPart(facts), contextPart(facts), rolePart(facts)]
  const parts: readonly Part[] = [
    { rank: 1, line: modePart(view.mode) },
    { rank: 0, line: activityPart(facts) },
    { rank: 3, line: model, short: model.slice(1) }, // without the provider
    { rank: 7, line: view.thinkingLevel === 'off' ? [] : [span(`think ${view.thinkingLevel}`, styles.dim)] },
    { rank: 4, line: context, short: shortContext(facts) },
    { rank: 6, line: [span(costText(meta.usage.cost), styles.dim)] },
    { rank: 2, line: role, short: role.map(({ text, style }) => span(text.split(',')[0] ?? '', style)) },
    { rank: 5, line: boundaryPart(view.boundaries.length) },
    { rank: 8, line: view.branch === null ? [] : [span(`⎇ ${shownLine(view.branch)}`, styles.dim)] },
    { rank: 9, line: [span(hint, styles.dim)] },
  ]
  return cutLine(fitParts(parts, width), width)
}

/** Joins as many parts as fit, by rank: first in short, then as many as fit in full. */
function fitParts(parts: readonly Part[], width: number): StyledLine {
  const byRank = parts
    .map((part, index) => ({ ...part, index }))
    .filter(({ line }) => lineWidth(line) > 0)
    .sort((one, other) => one.rank - other.rank)
  let kept = new Map<number, StyledLine>()
  const joined = (lines: ReadonlyMap<number, StyledLine>) =>
    joinParts([...lines].sort(([one], [other]) => one - other).map(([, line]) => line))
  for (const isShort of [true, false])
    for (const { index, line, short = line } of byRank) {
      if (!isShort && !kept.has(index)) continue
      const next = new Map(kept).set(index, isShort ? short : line)
      if (lineWidth(joined(next)) <= width || next.size === 1) kept = next
    }
  return joined(kept)
}

const joinParts = (parts: readonly StyledLine[]): StyledLine => [
  span('  '),
  ...parts.flatMap((part, index): StyledLine => (index === 0 ? part : [span(' · ', styles.dim), ...part])),
]

const modePart = (mode: 'plan' | 'exec'): StyledLine =>
  mode === 'plan' ? [span('plan', `${styles.bold};${styles.warn}`)] : [span('exec', styles.accent)]

function activityPart({ view, connection, storageError }: StatusFacts): StyledLine {
  const lost = connectionWord(connection)
  if (lost !== null) return [span(lost, styles.bad)]
  if (storageError) return [span('the store rejects writes', styles.bad)]
  if (!view) return []
  if (view.pendingApprovals.length > 0) return [span('waits for you', styles.warn)]
  if (view.activity === 'thinking') return [span('working', styles.good)]
  if (view.activity === 'tool_executing')
    return [span(`runs ${shownLine(view.activeToolCalls[0]?.tool ?? 'tools')}`, styles.good)]
  if (view.activity === 'error') return [span('failed', styles.bad)]
  return view.lastTurn && view.lastTurn.reason !== 'done' ? [span(`${view.lastTurn.reason}`, styles.warn)] : []
}

/** Says that the session cannot be reached; null while it can. */
export function connectionWord(connection: Connection): string | null {
  if (connection.state === 'waiting') return 'server gone, retrying'
  return connection.state === 'ended' ? 'session ended' : null
}

function modelPart({ view, here }: StatusFacts): StyledLine {
  if (!view) return []
  const model = view.fallback ?? view.model
  const provider = providerOf(model)
  const isMissing = here?.credentialsConfigured === false
  const name: StyledLine = [
    span(`${shownLine(provider)}/`, styles.dim),
    span(shownLine(model.slice(provider.length + 1))),
  ]
  if (view.fallback !== null) return [...name, span(' (fallback)', styles.warn)]
  return isMissing ? [...name, span(' has no key', styles.bad)] : name
}

/** Says that tools may not change every line. `/boundaries` says which. */
const boundaryPart = (count: number): StyledLine =>
  count === 0 ? [] : [span(count === 1 ? '1 file bounded' : `${count} files bounded`, styles.warn)]

const gaugeCells = 5

function contextPart({ view, here }: StatusFacts): StyledLine {
  if (!view) return []
  const { share, tokens } = contextUsageOf({ view, here })
  const filled = Math.min(gaugeCells, Math.round(share * gaugeCells))
  const style = share >= 0.8 ? styles.bad : share >= 0.6 ? styles.warn : styles.good
  return [
    span('▰'.repeat(filled), style),
    span('▱'.repeat(gaugeCells - filled), styles.dim),
    span(` ${Math.round(share * 100)}% ${tokensText(tokens)}`, styles.dim),
  ]
}

const shortContext = ({ view, here }: StatusFacts): StyledLine =>
  view ? [span(`${Math.round(contextUsageOf({ view, here }).share * 100)}%`, styles.dim)] : []

function rolePart({ presence, client }: StatusFacts): StyledLine {
  const driver = presence.find(({ role }) => role === 'driver')?.client
  const others = presence.filter((one) => one.client !== client).length
  const screens = others === 0 ? '' : `, ${others + 1} screens`
  if (driver === client) return others === 0 ? [] : [span(`you drive${screens}`, styles.dim)]
  if (driver === undefined) return presence.length === 0 ? [] : [span(`nobody drives${screens}`, styles.warn)]
  return [span(`watching, ${shownLine(driver)} drives`, styles.warn)]
}
