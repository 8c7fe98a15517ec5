import { ListedPermission, ok, PermissionList, PermissionRule } from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, type Route } from '../../define/route.ts'

const listPermissions = defineRoute({
  on: 'GET /v1/permissions',
  summary: "List the user's permission rules",
  query: z.strictObject({ workspace: z.string().max(4096).optional() }),
  answers: answersJson(PermissionList),
  refuses: ['not_found', 'bad_config'],
  async handle({ input }, { permissions }) {
    const found = await permissions.list(input.query)
    return found.ok ? ok({ permissions: found.value }) : found
  },
})

const addPermission = defineRoute({
  on: 'POST /v1/permissions',
  summary: 'Add a permission rule for all sessions, or for those of a workspace',
  body: PermissionRule,
  answers: answersJson(ListedPermission),
  refuses: ['not_found', 'bad_config'],
  handle: ({ input }, { permissions }) => permissions.add(input.body),
})

const removePermission = defineRoute({
  on: 'DELETE /v1/permissions/:rule',
  summary: 'Remove a permission rule',
  answers: answersJson(ListedPermission),
  refuses: ['not_found', 'bad_config'],
  handle: ({ path }, { permissions }) => permissions.remove(path['rule'] ?? ''),
})

export const permissionRoutes: readonly Route[] = [listPermissions, addPermission, removePermission]
