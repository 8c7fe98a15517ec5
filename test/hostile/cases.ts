import type { HostileCase } from './case.ts'
import { bodyCases } from './cases/bodies.ts'
import { clientCases } from './cases/clients.ts'
import { importCases } from './cases/imports.ts'
import { modelCases } from './cases/models.ts'
import { programCases } from './cases/programs.ts'
import { repositoryCases } from './cases/repositories.ts'

/** Every case of the rig. A new tool, hook, server or screen adds its own. */
export const cases: readonly HostileCase[] = [
  ...[
    ...modelCases,

    ...repositoryCases,
    ...importCases,
    ...clientCases,
    ...bodyCases,
    ...programCases,
  ],
]
