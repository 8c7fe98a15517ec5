import { skillTool } from '../../ports/guidance.ts'
import { skillsToTell } from '../../session/skills-to-tell.ts'
import { modelNow, type Origin, type SessionState } from '../../session/state.ts'
import type { EffectDeps, GatheredContext, StepContext } from '../dependencies.ts'
import { findOffered, isOffered } from './offered-tools.ts'
import { schemasOfStep } from './step-schemas.ts'

type ContextDeps = Pick<EffectDeps, 'tools' | 'instructions' | 'models'>

/** Everything that decides what a step is told, besides the files. */
type Asked = {
  readonly session: Parameters<EffectDeps['instructions']['gather']>[0]
  readonly origin: Origin
  readonly settings: Pick<SessionState['settings'], 'serversOff'>
  readonly contextTokens: number | undefined
}

/**
 * Gathers the system text and the tool schemas of steps. Both come from files, so a session looks ahead: it begins to read
 * while the records that lead to the step are being written.
 */
export function createStepContext(deps: ContextDeps): StepContext {
  let ahead: { readonly key: string; readonly gathered: GatheredContext } | null = null
  return {
    lookAhead(origin, state, hookContext) {
      const asked = askedBy(deps, origin, state, hookContext)
      ahead = { key: JSON.stringify(asked), gathered: gather(deps, asked) }
    },
    forget() {
      ahead = null
    },
    take(origin, state, hookContext) {
      const asked = askedBy(deps, origin, state, hookContext)
      const found = ahead?.key === JSON.stringify(asked) ? ahead.gathered : null
      ahead = null // each step reads anew
      return found ?? gather(deps, asked)
    },
  }
}

function askedBy(
  { tools, models }: ContextDeps,
  origin: Origin,
  state: SessionState,
  hookContext: string | null,
): Asked {
  const { workdir, instructions: added } = origin
  const { mode, serversOff } = state.settings
  const hasSkillTool = tools.all.some((tool) => tool.schema.name === skillTool && isOffered(origin, tool))
  const model = models.find(modelNow(state))
  return {
    session: {
      workdir,
      mode,
      added,
      hasSkillTool,
      hookContext,
      ...instructedBy(state),
      skills: skillsToTell(state),
    },
    origin,
    settings: { serversOff },
    contextTokens: model.type === 'ready' ? model.contextTokens : undefined,
  }
}

function gather({ instructions, tools }: ContextDeps, { session, origin, settings, contextTokens }: Asked) {
  const describe = async (): Promise<string> => {
    await tools.whenDescribed?.(origin.workdir)
    const offered = await findOffered(tools, origin, settings)
    return schemasOfStep(offered, origin.workdir, contextTokens)
  }
  const gathered: GatheredContext = { system: instructions.gather(session), tools: describe() }
  // A step that never comes takes neither; one that comes gets the failure.
  for (const text of [gathered.system, gathered.tools]) text.catch(() => undefined)
  return gathered
}

/** Returns what decides, besides the workdir, which files of instructions a session has. */
export const instructedBy = ({ seen, settings }: SessionState) => ({
  folders: foldersOf(seen),
  permissions: settings.permissions ?? [],
})

/** Returns the folders of files, each once, and not the workdir itself. */
const foldersOf = (seen: SessionState['seen']): readonly string[] => [
  ...new Set(seen.map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf('/')))).filter((path) => path !== '')),
]
