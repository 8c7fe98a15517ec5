import { ListedPermission, PermissionList, type PermissionRules } from '@holdfast/protocol'
import { type Http, parseAnswer, queryOf } from '../http/http.ts'

/** The permission rules of the user who runs the server. */
export const createRemotePermissions = (wire: Http): PermissionRules => ({
  async list({ workspace } = {}) {
    const answer = await wire.json(`/v1/permissions${queryOf({ workspace })}`)
    return parseAnswer(answer, 'a list of rules', PermissionList.shape.permissions, 'permissions')
  },
  add: async (rule) => parseAnswer(await wire.json('/v1/permissions', { body: rule }), 'a new rule', ListedPermission),
  async remove(id) {
    const answer = await wire.json(`/v1/permissions/${encodeURIComponent(id)}`, { method: 'DELETE' })
    return parseAnswer(answer, 'the removal of a rule', ListedPermission)
  },
})
