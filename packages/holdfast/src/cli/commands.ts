import type { RunCommand } from './args/command-spec.ts'
import type { CommandGroup } from './args/help.ts'
import { programSpecs } from './commands/program/specs.ts'
import { sessionSpecs } from './commands/session/specs.ts'
import { storeSpecs } from './commands/store/specs.ts'

/** Every command. Parser, help, suggestions and types come from these specs; a command's code is loaded when it runs. */
export const commandSpecs = { ...sessionSpecs, ...storeSpecs, ...programSpecs }

export const commandGroups: readonly CommandGroup[] = [
  ['Sessions', sessionSpecs],
  ['Stores', storeSpecs],
  ['Program', programSpecs],
]

export type CommandName = keyof typeof commandSpecs

export const commandNames = Object.keys(commandSpecs) as readonly CommandName[] // the keys of the specs above

export const isCommandName = (text: string): text is CommandName => Object.hasOwn(commandSpecs, text)

/** Loads a command's code when it runs: `ls` must not wait for the code of the server. */
export const loadCommand: {
  readonly [Name in CommandName]: () => Promise<{ readonly run: RunCommand<(typeof commandSpecs)[Name]> }>
} = {
  run: () => import('./commands/session/run.ts'),
  new: async () => ({ run: (await import('./commands/session/run.ts')).runNew }),
  attach: () => import('./commands/session/attach.ts'),
  ls: () => import('./commands/session/ls.ts'),
  show: () => import('./commands/session/show.ts'),
  search: () => import('./commands/session/search.ts'),
  shells: () => import('./commands/session/shells.ts'),
  files: () => import('./commands/session/files.ts'),
  boundary: () => import('./commands/session/boundary.ts'),
  diff: () => import('./commands/session/diff.ts'),
  branch: async () => ({ run: (await import('./commands/session/change.ts')).branch }),
  branches: () => import('./commands/session/branches.ts'),
  switch: async () => ({ run: (await import('./commands/session/change.ts')).switchBranch }),
  rewind: () => import('./commands/session/rewind.ts'),
  fork: async () => ({ run: (await import('./commands/session/change.ts')).fork }),
  rename: async () => ({ run: (await import('./commands/session/change.ts')).rename }),
  pin: async () => ({ run: (await import('./commands/session/change.ts')).pin }),
  rm: () => import('./commands/session/rm.ts'),
  prune: () => import('./commands/session/prune.ts'),
  trash: () => import('./commands/session/trash.ts'),
  share: () => import('./commands/session/share.ts'),
  tell: () => import('./commands/session/tell.ts'),
  export: () => import('./commands/store/export.ts'),
  import: () => import('./commands/store/import.ts'),
  'mv-workspace': () => import('./commands/store/mv-workspace.ts'),
  stats: () => import('./commands/store/stats.ts'),
  doctor: () => import('./commands/store/doctor.ts'),
  backup: () => import('./commands/store/backup.ts'),
  migrate: () => import('./commands/store/migrate.ts'),
  auth: () => import('./commands/program/auth.ts'),
  models: () => import('./commands/program/models.ts'),
  config: () => import('./commands/program/config.ts'),
  completion: () => import('./commands/program/completion.ts'),
  permissions: () => import('./commands/program/permissions.ts'),
  mcp: () => import('./commands/program/mcp.ts'),
  trust: () => import('./commands/program/trust.ts'),
  hooks: () => import('./commands/program/hooks.ts'),
  skills: () => import('./commands/program/skills.ts'),
  agents: () => import('./commands/program/agents.ts'),
  tools: () => import('./commands/program/tools.ts'),
  token: () => import('./commands/program/token.ts'),
  caps: () => import('./commands/program/caps.ts'),
  login: () => import('./commands/program/login.ts'),
  open: () => import('./commands/program/open.ts'),
  serve: () => import('./commands/program/serve.ts'),
}
