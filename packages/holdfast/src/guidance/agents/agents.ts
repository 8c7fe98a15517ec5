import { type AgentKind, type Agents, generalAgent } from '@holdfast/core/ports'
import { didYouMean, escapeLine, fault, type ListedAgent, ok, refuse } from '@holdfast/protocol'
import { createOffer, type Offer } from '../../trust/offer.ts'
import type { FindOffers } from '../../trust/offer-trust.ts'
import { createTrustedGuidance, type GuidanceDeps } from '../trusted-guidance.ts'
import { untrusted } from '../untrusted.ts'
import { type AgentOnDisk, createAgentFinder } from './find-agents.ts'
import type { AgentFile } from './parse-agent.ts'

/** The kinds of agents of this machine, and those of a workspace as what it offers. */
export type AgentFolders = Agents & { readonly offers: FindOffers }

const general: ListedAgent = {
  name: generalAgent,
  description: 'any task, with all tools of its parent',
  scope: 'built-in',
  path: null,
  state: 'listed',
  tools: null,
  model: null,
  problems: [],
}

/** Finds kinds of agents: of the workspace from the workdir up, then the user's own, then the built-in one. */
export function createAgents(deps: GuidanceDeps): AgentFolders {
  const { find, offers } = createTrustedGuidance<AgentOnDisk>(deps, {
    kind: 'agents',
    find: createAgentFinder(),
    pathOf: ({ path }) => path,
    offer: offerAgent,
  })

  /** Returns all files with their states. An untrusted one never hides a trusted one. */
  async function findAll(
    workdir: string,
  ): Promise<readonly { readonly listed: ListedAgent; readonly file: AgentFile | null }[]> {
    const taken = new Set<string>()
    return (await find(workdir)).map(({ item: agent, isTrusted }) => {
      const file = agent.file.ok ? agent.file.value : null
      const state = stateOf(file, isTrusted, taken)
      if (state === 'listed' && file) taken.add(file.name)
      return { listed: toListed(agent, state), file }
    })
  }

  return {
    list: async (workdir) => [...(await findAll(workdir)).map(({ listed }) => listed), general],
    async find(workdir, name) {
      const all = await findAll(workdir)
      const found = all.find(({ listed }) => listed.name === name && listed.state === 'listed')?.file
      if (found) return ok(toKind(found))
      if (name === generalAgent) return ok(generalKind)
      if (all.some(({ listed }) => listed.name === name && listed.state === 'untrusted'))
        return refuse(untrusted('agent', name))
      const known = [...all.flatMap(({ listed }) => (listed.state === 'listed' ? [listed.name] : [])), generalAgent]
      const message = `There is no agent ${escapeLine(name)}.${didYouMean(name, known) || ` There are: ${known.join(', ')}.`}`
      return refuse(fault('bad_request', message, { name, known }))
    },
    offers,
  }
}

const generalKind: AgentKind = {
  name: generalAgent,
  tools: null,
  withoutTools: [],
  model: null,
  instructions: '',
  background: false,
}

function stateOf(file: AgentFile | null, isTrusted: boolean, taken: ReadonlySet<string>): ListedAgent['state'] {
  if (!file?.isUsable) return 'unusable'
  if (!isTrusted) return 'untrusted'
  return taken.has(file.name) ? 'shadowed' : 'listed'
}

function toListed({ scope, path, file }: AgentOnDisk, state: ListedAgent['state']): ListedAgent {
  if (!file.ok) {
    const problems = [{ path, line: null, message: file.fault.message }]
    return { name: path, description: '', scope, path, state, tools: null, model: null, problems }
  }
  const { name, description, tools, model, problems } = file.value
  return {
    name: escapeLine(name),
    description,
    scope,
    path,
    state,
    model,
    tools: tools && [...tools],
    problems: problems.map((problem) => ({ path, ...problem })),
  }
}

const toKind = ({ name, tools, withoutTools, model, instructions, background }: AgentFile): AgentKind => ({
  name,
  tools,
  withoutTools,
  model,
  instructions,
  background,
})

const offerAgent = async (name: string, { file }: AgentOnDisk): Promise<Offer | null> =>
  file.ok ? createOffer({ kind: 'agent', name, path: name, text: file.value.source }) : null
