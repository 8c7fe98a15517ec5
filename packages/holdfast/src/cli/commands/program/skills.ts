import { createSession } from '@holdfast/client'
import { type FoundSkill, type ListedSkill, limits } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { findAction } from '../../args/find-action.ts'
import { withNamedSession } from '../../connect/connect.ts'
import { latest } from '../../connect/session-name.ts'
import { resolveWorkspace } from '../../connect/workspace.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { type ExitCode, exitCodes, rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

type Args = ArgsOf<typeof programSpecs.skills>
type Work = (args: Args, context: CliContext) => Promise<ExitCode | undefined>

/** Lists the skills of a folder or session, prints one, or lets a session follow it. */
export const run: RunCommand<typeof programSpecs.skills> = (args, context) => {
  const [action = 'list'] = args.positionals
  return findAction('skills', action, actions)(args, context)
}

const list: Work = async ({ positionals, flags }, context) => {
  if (positionals.length > 1) rejectUsage('skills list takes no name. Use skills show <name>.')
  const { session, workspace, json } = flags
  if (session === undefined) {
    const workdir = workdirOf(context, workspace)
    const skills = context.server
      ? await (await import('../../connect/connect-given.ts')).connectGiven(context.server).skills(workdir)
      : (await (await openSkills(context)).list(workdir)).skills
    await print(skills, json, context)
    return undefined
  }
  if (workspace !== undefined) rejectUsage('A session has its own folder: leave --workspace out.')
  return withNamedSession(context, session, async (handle) => {
    await print(orThrow(await handle.skills()), json, context)
    return exitCodes.ok
  })
}

const show: Work = async ({ positionals: [, name], flags }, context) => {
  if (name === undefined) rejectUsage('skills show needs the name of a skill. holdfast skills lists them.')
  if (context.server) rejectUsage('skills show reads the files of this machine: leave --url out.')
  if (flags.session !== undefined) rejectUsage('skills show takes a folder, not a session: use --workspace.')
  const workdir = workdirOf(context, flags.workspace)
  const skill = orThrow(await (await openSkills(context)).read({ workdir, name, charsMax: limits.skillCharsMax }))
  if (flags.json) await context.out.writeJson(skill)
  else await context.out.write(`${escapeHidden(skill.text)}\n`)
  return undefined
}

const turn =
  (isOn: boolean): Work =>
  ({ positionals: [action, name], flags }, context) => {
    if (name === undefined) rejectUsage(`skills ${action} needs the name of a skill. holdfast skills lists them.`)
    if (flags.workspace !== undefined) rejectUsage('A session has its own folder: use --session.')
    return withNamedSession(context, flags.session ?? latest, async (handle) => {
      const session = createSession(handle)
      const answer = await (isOn ? session.activateSkill(name) : session.deactivateSkill(name))
      const { meta } = orThrow(await handle.state(['meta']))
      if (flags.json) await context.out.writeJson(answer)
      else await context.err.tell(`${meta.handle} ${isOn ? 'follows' : 'no longer follows'} ${escapeLine(name)}.`)
      return exitCodes.ok
    })
  }

const actions = { list, show, on: turn(true), off: turn(false) }

const workdirOf = (context: CliContext, workspace: string | undefined): string =>
  orThrow(resolveWorkspace(context, workspace))

async function openSkills({ home }: CliContext) {
  const { createSkills } = await import('../../../guidance/skills/skills.ts')
  const { openTrustedWorkspaces } = await import('../../../open/open-trusted-workspaces.ts')
  const { configDir, userDir } = home
  return createSkills({ configDir, userDir, trusted: openTrustedWorkspaces(home) })
}

/** Prints a table of skills, and below what is wrong with their files. */
async function print(skills: readonly (FoundSkill | ListedSkill)[], isJson: boolean, { out, err }: CliContext) {
  if (isJson) return out.writeJson({ skills })
  if (skills.length === 0) return err.tell('There are no skills here.')
  const rows = skills.map((skill) => [
    escapeLine(skill.name),
    'active' in skill && skill.active !== null ? `${skill.state}, active` : skill.state,
    skill.scope,
    escapeLine(skill.description),
  ])
  await out.write(textTable(['SKILL', 'STATE', 'OF', 'FOR'], rows, out))
  for (const { path, line, message } of skills.flatMap(({ problems }) => problems))
    await err.tell(`${escapeLine(path)}${line === null ? '' : `:${line}`}: ${escapeLine(message)}`)
  if (skills.some(({ state }) => state === 'untrusted'))
    await err.tell('An untrusted skill is not used before you trust it. holdfast trust shows it.')
}
