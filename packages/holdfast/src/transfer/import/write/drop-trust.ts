import type { Event, Settings } from '@holdfast/protocol'
import type { Remark } from '../parse/conversation.ts'
import type { ImportedLog } from './imported-log.ts'

/**
 * Returns the event without the trust, permissions and calls without approval that it allows. The same event always
 * gives the same one, so a second import finds it.
 */
export function dropTrust(event: Event): Event {
  if (event.type === 'trust.granted') return { type: 'trust.revoked', tool: event.tool }
  if (event.type === 'settings.changed') return isLax(event) ? { ...event, ...restrict(event) } : event
  if (event.type === 'session.started' && isLax(event.settings))
    return { ...event, settings: { ...event.settings, ...restrict(event.settings) } }
  return event
}

/**
 * Returns the event without the contents of files before its changes: `restoreFiles` would write them into the workdir,
 * and a file that is imported may claim any.
 */
export function dropFileContents(event: Event): Event {
  if (event.type === 'files.restored' || event.type === 'files.restore_started') return { ...event, items: [] }
  if ((event.type !== 'call.settled' && event.type !== 'files.touched') || !event.files) return event
  const files = event.files.map((file) => ({ ...file, before: imported }))
  return { ...event, files }
}

/** Returns the event without its payer: a file that is imported may name any token, and its turns must not count for it. */
export function dropPayer(event: Event): Event {
  if (!('payer' in event)) return event
  const { payer: _, ...rest } = event
  return rest
}

const imported = { type: 'not_kept', why: 'the session was imported' } as const

type Allowing = Pick<Partial<Settings>, 'approvals' | 'permissions'>

const isLax = ({ approvals, permissions = [] }: Allowing): boolean => approvals === 'none' || permissions.length > 0

const restrict = ({ approvals, permissions }: Allowing): Allowing => ({
  ...(approvals !== undefined && { approvals: approvals === 'none' ? 'destructive' : approvals }),
  ...(permissions !== undefined && { permissions: [] }),
})

export type TrustDropper = {
  /** Returns the event without what it allows. Remarks once on each kind; trust for one turn is not worth a remark. */
  drop(event: Event): Event
  hasDropped(): boolean
}

export function createTrustDropper(remark: Remark): TrustDropper {
  let hasDropped = false
  const told = new Set<string>()
  const tell = (code: 'trust_revoked' | 'permissions_dropped', what: string): void => {
    if (!told.has(code)) remark(null, code, what)
    told.add(code)
  }
  const drop = (event: Event): Event => {
    const kept = dropTrust(event)
    if (kept === event) return event
    hasDropped = true
    const { approvals, permissions = [] } = findSettings(event)
    const isStanding = event.type === 'trust.granted' && event.scope !== 'turn'
    if (isStanding || approvals === 'none') tell('trust_revoked', 'Its standing approvals were left out.')
    if (permissions.length > 0) tell('permissions_dropped', 'Its permissions were left out.')
    return kept
  }
  return { drop, hasDropped: () => hasDropped }
}

/** Revokes what a stored session may still allow, because its own records were compared without their trust. */
export function revokeTrust(log: ImportedLog, at: number): void {
  const { approvals = 'destructive' } = log.folded().state.settings
  log.add({ type: 'trust.revoked', tool: null }, at)
  log.add({ type: 'settings.changed', approvals, permissions: [] }, at)
}

const findSettings = (event: Event): Allowing =>
  event.type === 'session.started' ? event.settings : event.type === 'settings.changed' ? event : {}
