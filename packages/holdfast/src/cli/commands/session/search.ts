import type { SearchPage, SearchRequest } from '@holdfast/core/ports'
import type { SearchRole, SessionId } from '@holdfast/protocol'
import { ageForm, parseAge } from '@holdfast/protocol/age'
import type { Fault } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { limits } from '@holdfast/protocol/limits'
import { ok, type Result } from '@holdfast/protocol/result'
import { openReadOnlyStore } from '../../../store/open/open-read-only.ts'
import type { ReadOnlyStore } from '../../../store/read-only-store.ts'
import { searchCursorForm } from '../../../store/search/search-cursor.ts'
import type { ArgsOf } from '../../args/command-specs.ts'
import { wholeNumber } from '../../args/whole-number.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { ageOf } from '../../render/session-table.ts'
import { diskStoreOf, missingStore } from '../../sessions/resolve-store.ts'
import { workspaceOf } from '../../sessions/workspace.ts'
import { type Ended, ended, misused, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

const limitDefault = 20
const roles: readonly SearchRole[] = ['user', 'assistant', 'tool', 'system']
const textCharsMax = 1000

/** Finds messages in the store, on this thread, and nothing else: it has to be quick. */
export async function search({ words, flags }: ArgsOf<'search'>, place: CliContext): Promise<Ended> {
  const text = words.join(' ')
  if (text.length > textCharsMax) return misused(`A search has at most ${textCharsMax} characters.`)
  const filters = filtersOf(flags, place.now())
  if (typeof filters === 'string') return misused(filters)
  const isEverywhere = flags.all || flags.session !== undefined
  const workspace = isEverywhere ? null : workspaceOf(place, flags.workspace)
  if (workspace !== null && !workspace.ok) return refused(workspace.fault)

  const store = diskStoreOf(place)
  if (!store.ok) return refused(store.fault)
  const missing = missingStore(place)
  if (missing !== null) return refused(missing)
  const source = await openReadOnlyStore(store.value)
  if (!source.ok) return refused(source.fault)
  try {
    const where = workspace === null ? {} : { workspace: workspace.value }
    const found = await searchIn(source.value, { text, ...where, ...filters }, flags.session, place)
    if (!found.ok) return isBadCursor(found.fault) ? misused(cursorMisuse(flags.cursor)) : refused(found.fault)
    await tell(found.value, { isJson: flags.json, where: workspace?.value ?? null }, place)
    return ended()
  } finally {
    await source.value?.close()
  }
}

/** Which places a cursor may name, only the store knows. */
const isBadCursor = ({ code, details }: Fault): boolean => code === 'bad_request' && details?.['cursor'] !== undefined
const cursorMisuse = (cursor: string | undefined): string =>
  `--cursor is what an earlier search gave as its next, not '${cursor}'.`

type Filters = Pick<SearchRequest, 'role' | 'tool' | 'since' | 'until' | 'limit' | 'cursor'>

/** What the flags ask for, or what is wrong with them. */
function filtersOf(flags: ArgsOf<'search'>['flags'], nowMs: number): Filters | string {
  if (flags.all && flags.workspace !== undefined) return '--all and --workspace exclude each other.'
  const limit = flags.limit === undefined ? limitDefault : wholeNumber(flags.limit, 1, limits.searchHitsMax)
  if (limit === null) return `--limit is a whole number from 1 to ${limits.searchHitsMax}, not '${flags.limit}'.`
  const role = roles.find((one) => one === flags.role)
  if (flags.role !== undefined && role === undefined)
    return `--role is one of ${roles.join(', ')}, not '${flags.role}'.`
  const [since, until] = [momentOf(flags.since, nowMs), momentOf(flags.until, nowMs)]
  if (since === null || until === null) {
    const [name, given] = since === null ? ['since', flags.since] : ['until', flags.until]
    return `--${name} is a date such as 2026-01-31, or ${ageForm}; not '${given}'.`
  }
  if (flags.cursor !== undefined && !searchCursorForm.test(flags.cursor)) return cursorMisuse(flags.cursor)
  return { role, tool: flags.tool, since, until, limit, cursor: flags.cursor }
}

/** A date, a moment, or an age that leads to one; null when it is none of them. */
function momentOf(text: string | undefined, nowMs: number): string | undefined | null {
  if (text === undefined) return undefined
  const age = parseAge(text)
  const ms = age === null ? (/^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN) : nowMs - age
  if (Number.isNaN(ms)) return null
  const moment = new Date(ms).toISOString()
  // The 30th of February is read as the 2nd of March: nobody meant that.
  return age === null && moment.slice(0, 10) !== text.slice(0, 10) ? null : moment
}

async function searchIn(
  source: ReadOnlyStore | null,
  request: SearchRequest,
  name: string | undefined,
  place: CliContext,
): Promise<Result<SearchPage>> {
  if (source === null) return ok({ hits: [], next: null })
  if (name === undefined) return source.search(request)
  const { storedId } = await import('../../sessions/stored-session.ts') // brings core, which a search everywhere never needs
  const session: Result<SessionId> = await storedId(source, place, name)
  return session.ok ? source.search({ ...request, session: session.value }) : session
}

type Told = { readonly isJson: boolean; readonly where: string | null }

async function tell({ hits, next }: SearchPage, { isJson, where }: Told, { out, err, now }: CliContext): Promise<void> {
  if (isJson) {
    const found = hits.map(({ session, title, message, role, at, snippet }) => ({
      ...{ sessionId: session, title, messageId: message, kind: role, at, snippet },
    }))
    return out.write(`${toJsonText({ hits: found, next })}\n`)
  }
  for (const { session, title, message, role, at, snippet } of hits) {
    const age = ageOf(now() - Date.parse(at))
    await out.write(`${out.paint.bold(escapeLine(title))}  ${session} #${message}  ${role}  ${age}\n`)
    await out.write(`  ${escapeLine(snippet)}\n`)
  }
  if (hits.length === 0) {
    const elsewhere = where === null ? '' : ` in ${where}; --all searches every workspace`
    await err.write(`Nothing was found${elsewhere}.\n`)
  }
  if (next !== null) await err.write('There is more; --limit shows it.\n')
}
