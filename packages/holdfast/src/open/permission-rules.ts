import type { PermissionRows } from '@holdfast/core/ports'
import { orThrow, type PermissionRules } from '@holdfast/protocol'
import { openDatabaseStore } from '../store/open/open-blobs.ts'
import { parseStoreUrl } from '../store/open/store-location.ts'
import { permissionPath } from '../system/config/permission-file.ts'
import type { Environment, Home } from '../system/home.ts'
import { createPermissions } from '../tools/permissions/permissions.ts'

/** Returns the permission rules of this machine, which need no store, with those of a store if it has some. */
export const openPermissionRules = ({ configDir }: Home, rows?: PermissionRows): PermissionRules =>
  createPermissions({ file: permissionPath(configDir), shared: async () => rows })

type RulesHome = {
  readonly home: Home
  readonly environment: Environment
  /** The store named by flag or environment; undefined for the one of the home. */
  readonly store: string | undefined
}

/** Runs `work` with the rules of a store; only one in a database has some, and others are not opened. */
export async function withPermissionRows<Value>(
  { home, environment, store: url }: RulesHome,
  work: (rows: PermissionRows | undefined) => Promise<Value>,
): Promise<Value> {
  const location = orThrow(parseStoreUrl(url, home))
  if (location.kind !== 'postgres') return work(undefined)
  const { store } = orThrow(await openDatabaseStore(location, { environment }))
  return work(store.permissionRules).finally(() => store.close())
}
