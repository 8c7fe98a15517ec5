import { join } from 'node:path'
import { fault, type HookLister, ok, type Result, refuse } from '@holdfast/protocol'
import { declaredHooks, findBadMatcher } from '../hooks/hook-config.ts'
import { createHooks, type RuntimeHooks } from '../hooks/hooks.ts'
import { type OwnHooks, readOwnHooks } from '../hooks/own-hooks.ts'
import { type Configured, configPath, layerConfig, readConfig } from '../system/config/read-config.ts'
import { resolveGivenFolder } from '../system/files/resolve-path.ts'
import type { Environment, Home } from '../system/home.ts'
import { createProcessRecords } from '../tools/program/process-records.ts'
import { commandEnvironment } from '../tools/shell/environment.ts'
import { openTrustedWorkspaces } from './open-trusted-workspaces.ts'

type OpenHooks = {
  readonly environment: Environment
  readonly home: Home
  /** Variables that hold keys: no hook gets them. */
  readonly keyNames: readonly string[]
  readonly configured: Pick<Configured, 'hooks' | 'shellEnvironment'>
  readonly own?: OwnHooks | undefined
}

/** Returns the hooks of the program, the user and trusted workspaces, for the runtime and `holdfast hooks`: it needs no store. */
export function openHooks({ environment, home, keyNames, configured, own }: OpenHooks): Result<RuntimeHooks> {
  const bad = findBadMatcher(configured.hooks)
  const path = configPath(home.configDir)
  if (bad !== null) {
    const why = 'Use names with | between them, or a regular expression without lookaround.'
    return refuse(
      fault('bad_config', `${path}: the matcher ${JSON.stringify(bad)} of a hook cannot be used. ${why}`, { path }),
    )
  }
  return ok(
    createHooks({
      own: readOwnHooks(own),
      user: declaredHooks(configured.hooks),
      trusted: openTrustedWorkspaces(home),
      userDir: home.userDir,
      environment: commandEnvironment(environment, { keyNames, passed: configured.shellEnvironment }),
      records: createProcessRecords(join(home.stateDir, 'shells')),
    }),
  )
}

/** Returns the list of hooks for clients. A folder is absolute: it must not depend on where a program was started. */
export const listHooks = (hooks: Pick<RuntimeHooks, 'list'>): HookLister => ({
  async list(given) {
    const workdir = await resolveGivenFolder(given)
    return workdir.ok ? ok(await hooks.list(workdir.value)) : workdir
  },
})

/** Returns the hooks of the user and trusted workspaces, without a runtime. Refused: bad_config. */
export async function openUserHooks(environment: Environment, home: Home): Promise<Result<RuntimeHooks>> {
  const path = configPath(home.configDir)
  const config = await readConfig(path)
  const configured = config.ok
    ? layerConfig({ file: { path, config: config.value }, environment, options: {} })
    : config
  return configured.ok ? openHooks({ environment, home, keyNames: [], configured: configured.value }) : configured
}
