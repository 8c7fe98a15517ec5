import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { permissionPath } from '../system/config/permission-file.ts'
import { findHome } from '../system/home.ts'
import { createPermissions } from '../tools/permissions/permissions.ts'
import { listTools } from './list-tools.ts'

it('lists a rule with a pattern only for tools whose calls it can match', async () => {
  const workdir = await mkdtemp(join(tmpdir(), 'holdfast-list-'))
  onTestFinished(() => rm(workdir, { recursive: true, force: true }))
  const environment = { HOLDFAST_HOME: join(workdir, 'home'), HOLDFAST_SANDBOX: 'off' }
  const home = findHome(environment)
  const rules = createPermissions({ file: permissionPath(home.configDir) })
  orThrow(await rules.add({ tool: '*', verdict: 'deny', pattern: '.env' }))
  orThrow(await rules.add({ tool: '*', verdict: 'ask' }))
  orThrow(await rules.add({ tool: 'todo_read', verdict: 'deny', pattern: 'x' }))
  orThrow(await rules.add({ tool: '*', verdict: 'deny', pattern: 'rm **' }))
  const { tools } = orThrow(await listTools({ environment, home, workdir }))
  const rulesOf = (name: string) => tools.find((tool) => tool.name === name)?.rules
  for (const name of ['read_file', 'move_file', 'git_stage'])
    expect([name, rulesOf(name)]).toEqual([name, ['deny * .env', 'ask *', 'deny * rm **']])
  expect(rulesOf('shell')).toEqual(['ask *', 'deny * rm **'])
  for (const name of ['fetch_url', 'todo_read', 'todo_write', 'git_status', 'git_commit'])
    expect([name, rulesOf(name)]).toEqual([name, ['ask *']])
})
