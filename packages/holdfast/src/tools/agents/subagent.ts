import { type Agents, generalAgent, subagentTool, type Tool } from '@holdfast/core/ports'
import { clip, fault, limits, ok } from '@holdfast/protocol'
import { z } from 'zod'
import { textArgument } from '../define/arguments.ts'
import { abortedResult, begun, defineTool, failedWith, foreseen } from '../define/define-tool.ts'

const input = z.strictObject({
  task: textArgument
    .min(1, 'must not be empty')
    .max(limits.taskCharsMax, `must not be longer than ${limits.taskCharsMax} characters`)
    .describe('The whole task. The subagent sees nothing else of this conversation, so say all that it needs.'),
  agent: textArgument.min(1, 'must not be empty').optional().describe('The kind of agent; general when absent.'),
  model: textArgument
    .min(1, 'must not be empty')
    .optional()
    .describe('Another model, as provider/model. Leave it out unless a person asked for it.'),
  background: z
    .boolean()
    .optional()
    .describe('Does not wait for it: the call returns its name at once, and its result comes as a message later.'),
})

/** Creates `subagent`, by which the model gives a task to a session of its own. */
export function createSubagentTool(agents: Agents): Tool {
  const tool = defineTool({
    name: subagentTool,
    description:
      'Gives a task to another agent, which works in this folder with the same rules and returns its result. Use it for work that would fill this conversation, such as a wide search. Several calls at once run side by side.',
    input,
    changes: 'nothing', // what the subagent changes is asked about in its own calls

    async preview(args, { workdir }) {
      const kind = await agents.find(workdir, args.agent ?? generalAgent).catch(foreseen)
      return kind.ok ? ok({ preview: { type: 'arguments', args } }) : kind
    },

    async run(args, { workdir }, run) {
      if (!(await begun(run))) return abortedResult
      const subagents = run.session?.subagents
      if (!subagents) return failedWith(noSubagents)
      const { task, agent = generalAgent, model } = args
      // After a restart the subagent exists, whatever has become of its file.
      if (subagents.isStarted) return subagents.run({ task, agent, background: args.background ?? false })
      const kind = await agents.find(workdir, agent).catch(foreseen)
      if (!kind.ok) return failedWith(kind.fault)
      const { tools, withoutTools, model: agentModel, instructions, background } = kind.value
      return subagents.run({
        task,
        agent,
        tools,
        withoutTools,
        background: args.background ?? background,
        ...(model !== undefined && { model }),
        ...(agentModel !== null && { agentModel }),
        ...(instructions !== '' && { instructions }),
      })
    },
  })
  return {
    ...tool,
    async schemaIn(workdir) {
      const kinds = (await agents.list(workdir)).filter(({ state }) => state === 'listed')
      return withKinds(tool.schema, kinds)
    },
  }
}

const noSubagents = fault('bad_request', 'Subagents cannot be started here.')

const kindsMax = 50
const descriptionCharsMax = 200

type Kind = { readonly name: string; readonly description: string }

/** Tells the model which kinds there are. */
function withKinds(schema: Tool['schema'], kinds: readonly Kind[]): Tool['schema'] {
  const { properties } = schema.input as { readonly properties: { readonly agent: object } } // of the schema above
  const told = kinds
    .slice(0, kindsMax)
    .map(({ name, description }) => `${name}: ${clip(description, descriptionCharsMax)}`)
  const description = `The kind of agent; general when absent.\n${told.join('\n')}`
  const names = kinds.map(({ name }) => name)
  return {
    ...schema,
    input: { ...schema.input, properties: { ...properties, agent: { ...properties.agent, description, enum: names } } },
  }
}
