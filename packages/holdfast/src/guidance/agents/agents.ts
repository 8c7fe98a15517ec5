import { relative } from 'node:path'
import { type AgentKind, type Agents, generalAgent } from '@holdfast/core/ports'
import { didYouMean, escapeLine, fault, type ListedAgent, ok, refuse } from '@holdfast/protocol'
import { findWorkspaceRoot } from '../../system/files/workspace-root.ts'
import { findTrusted } from '../../trust/find-trusted.ts'
import { createOffer, type Offer } from '../../trust/offer.ts'
import type { TrustedWorkspaces } from '../../trust/trusted-workspaces.ts'
import { listGuidanceRoots } from '../guidance-roots.ts'
import { untrusted } from '../untrusted.ts'
import { type AgentOnDisk, createAgentFinder } from './find-agents.ts'
import type { AgentFile } from './parse-agent.ts'

type AgentsDeps = {
  readonly configDir: string
  readonly userDir: string
  readonly trusted: Pick<TrustedWorkspaces, 'items' | 'judge'>
}

/** The kinds of agents of this machine, and those of a workspace as what it offers. */
export type AgentFolders = Agents & {
  offers(place: { readonly workdir: string; readonly workspace: string }): Promise<readonly Offer[]>
}

const general: ListedAgent = {
  ...{ name: generalAgent, description: 'any task, with all tools of its parent', scope: 'built-in', path: null },
  ...{ state: 'listed', tools: null, model: null, problems: [] },
}

/** Finds kinds of agents: of the workspace from the workdir up, then the user's own, then the built-in one. */
export function createAgents({ configDir, userDir, trusted }: AgentsDeps): AgentFolders {
  const findOnDisk = createAgentFinder()

  /** Returns all files with their states. An untrusted one never hides a trusted one. */
  async function findAll(
    workdir: string,
  ): Promise<readonly { readonly listed: ListedAgent; readonly file: AgentFile | null }[]> {
    const workspace = await findWorkspaceRoot(workdir, userDir)
    const found = await findOnDisk(listGuidanceRoots('agents', { workdir, workspace, configDir, userDir }))
    const trustedOnes = await findTrusted({
      ...{ trusted, workspace, kind: 'agent' as const },
      things: found.filter(({ scope }) => scope === 'workspace'),
      nameOf: ({ path }: AgentOnDisk) => relative(workspace, path),
      offer: async (agent: AgentOnDisk) => offerAgent(workspace, agent),
    })
    const taken = new Set<string>()
    return found.map((agent) => {
      const isTrusted = agent.scope === 'user' || trustedOnes.has(agent)
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
    async offers({ workdir, workspace }) {
      const found = await findOnDisk(listGuidanceRoots('agents', { workdir, workspace, configDir, userDir }))
      return found.flatMap((agent) => {
        const offer = agent.scope === 'workspace' ? offerAgent(workspace, agent) : null
        return offer ? [offer] : []
      })
    },
  }
}

const generalKind: AgentKind = {
  ...{ name: generalAgent, tools: null, withoutTools: [], model: null, instructions: '', background: false },
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
    ...{ name: escapeLine(name), description, scope, path, state, model },
    tools: tools && [...tools],
    problems: problems.map((problem) => ({ path, ...problem })),
  }
}

const toKind = ({ name, tools, withoutTools, model, instructions, background }: AgentFile): AgentKind => ({
  ...{ name, tools, withoutTools, model, instructions, background },
})

function offerAgent(workspace: string, { path, file }: AgentOnDisk): Offer | null {
  if (!file.ok) return null
  const name = relative(workspace, path)
  return createOffer({ kind: 'agent', name, path: name, text: file.value.source })
}
