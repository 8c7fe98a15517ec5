import {
  ListedPermission,
  PermissionList,
  PermissionListOptions,
  PermissionRule,
  type PermissionRules,
  parseOptions,
  parseRuleId,
} from '@holdfast/protocol'
import { type Http, parseAnswer, queryOf } from '../http/http.ts'

/** The permission rules of the user who runs the server. */
export const createRemotePermissions = (wire: Http): PermissionRules => ({
  async list(given = {}) {
    const options = parseOptions(PermissionListOptions, given, 'list the rules')
    if (!options.ok) return options
    const answer = await wire.json(`/v1/permissions${queryOf(options.value)}`)
    return parseAnswer(answer, 'a list of rules', PermissionList.shape.permissions, 'permissions')
  },
  async add(given) {
    const rule = parseOptions(PermissionRule, given, 'add the rule')
    if (!rule.ok) return rule
    return parseAnswer(await wire.json('/v1/permissions', { body: rule.value }), 'a new rule', ListedPermission)
  },
  async remove(given) {
    const id = parseRuleId(given)
    if (!id.ok) return id
    const answer = await wire.json(`/v1/permissions/${encodeURIComponent(id.value)}`, { method: 'DELETE' })
    return parseAnswer(answer, 'the removal of a rule', ListedPermission)
  },
})
