import type { PermissionRules } from '@holdfast/protocol'
import { permissionPath } from './system/config/permission-file.ts'
import type { Home } from './system/home.ts'
import { createPermissions } from './tools/permissions/permissions.ts'

/** Returns the user's permission rules, for `holdfast permissions`: it needs no store. */
export const openPermissionRules = ({ configDir }: Home): PermissionRules =>
  createPermissions({ file: permissionPath(configDir) })
