import {
  Cap,
  CapScope,
  ListedCap,
  parseOptions,
  Spending,
  type SpendingCaps,
  SpendingOptions,
} from '@holdfast/protocol'
import { type Http, parseAnswer, queryOf } from '../http/http.ts'

/** What was spent through a server, and its caps. */
export const createRemoteSpending = (wire: Http): SpendingCaps => ({
  async read(given = {}) {
    const options = parseOptions(SpendingOptions, given, 'read what was spent')
    if (!options.ok) return options
    return parseAnswer(await wire.json(`/v1/spending${queryOf(options.value)}`), 'what was spent', Spending)
  },
  async set(given) {
    const cap = parseOptions(Cap, given, 'set the cap')
    if (!cap.ok) return cap
    return parseAnswer(await wire.json('/v1/caps', { body: cap.value }), 'a cap', ListedCap)
  },
  async remove(given = {}) {
    const scope = parseOptions(CapScope, given, 'remove the cap')
    if (!scope.ok) return scope
    const answer = await wire.json(`/v1/caps${queryOf(scope.value)}`, { method: 'DELETE' })
    return parseAnswer(answer, 'the removal of a cap', ListedCap)
  },
})
