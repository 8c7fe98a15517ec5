import type { HostileCase } from './case.ts'
import { bodyCases } from './cases/bodies.ts'
import { clientCases } from './cases/clients.ts'
import { commandCases } from './cases/commands.ts'
import { gitCases } from './cases/git.ts'
import { hookCases } from './cases/hooks.ts'
import { importCases } from './cases/imports.ts'
import { modelCases } from './cases/models.ts'
import { programCases } from './cases/programs.ts'
import { repositoryCases } from './cases/repositories.ts'
import { ruleCases } from './cases/rules.ts'
import { serverCases } from './cases/servers.ts'
import { siteCases } from './cases/sites.ts'
import { streamCases } from './cases/streams.ts'
import { subagentCases } from './cases/subagents.ts'
import { toolCases } from './cases/tools.ts'

/** Every case of the rig. A new tool, hook, server or screen adds its own. */
export const cases: readonly HostileCase[] = [
  ...[
    ...modelCases,
    ...commandCases,
    ...toolCases,
    ...repositoryCases,
    ...hookCases,
    ...gitCases,
    ...ruleCases,
    ...subagentCases,
  ],
  ...[...importCases, ...clientCases, ...streamCases, ...bodyCases, ...serverCases, ...programCases, ...siteCases],
]
