import { Cap, GivenFacts, ModelName, ProviderName, RotationEntry } from '@holdfast/protocol'
import { z } from 'zod'
import { HooksConfig } from './hooks-config.ts'

/** Settings of a provider, built-in or your own. */
const ProviderConfig = z.strictObject({
  title: z.string().min(1).max(100).optional().describe('As people call it.'),
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'an address begins with http:// or https://' })
    .optional()
    .describe('Where it is called, with or without the version of its API. A provider of your own needs it.'),
  api: z
    .enum(['chat', 'responses', 'anthropic', 'google'])
    .optional()
    .describe('How it is spoken to: `chat`, unless it says otherwise.'),
  keyName: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable')
    .optional()
    .describe('The variable that holds its key. Without it, and without a stored key, none is sent.'),
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9-]+$/, 'the name of a header'),
      z
        .string()
        .max(4096)
        .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'a header is one line of plain characters'),
    )
    .optional()
    .describe('Sent with every call.'),
})

/** How many requests each token or login may send to the server. */
const RateLimit = z.strictObject({
  perSecond: z.number().min(0.1).max(1_000_000).describe('Requests that are added each second.'),
  atOnce: z.int().min(1).max(1_000_000).describe('Requests that it may send at once after a pause.'),
})
export type RateLimit = Readonly<z.infer<typeof RateLimit>>

/** A stop of the rotation: a model, or a model with the thinking level it gets there. */
const RotationStop = z.union([ModelName, RotationEntry])

/** All settings. An option overrides a variable, which overrides the file. */
export const Config = z.strictObject({
  $schema: z.string().optional().describe('For editors.'),
  model: ModelName.optional().describe('The model of sessions that name none.'),
  titleModel: ModelName.optional().describe('Writes the titles of untitled sessions, after their first turn.'),
  compactionModel: ModelName.optional().describe('Writes summaries, where it holds what is to be summarised.'),
  rotation: z.array(RotationStop).max(100).optional().describe('What `cycleModel` goes round.'),
  fallbacks: z
    .array(ModelName)
    .max(100)
    .optional()
    .describe('Tried one after the other when a model is overloaded or out of reach.'),
  localModels: z.boolean().optional().describe('Whether servers on this machine are asked for their models: true.'),
  shellEnvironment: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable'))
    .max(100)
    .optional()
    .describe('Variables of your environment that commands of the agent get too, such as `JAVA_HOME`.'),
  sandbox: z
    .enum(['auto', 'on', 'off'])
    .optional()
    .describe(
      'Whether commands of the agent run in a sandbox: `auto`, where bubblewrap works; `on`, or not at all; `off`.',
    ),
  sandboxNetwork: z.boolean().optional().describe('Whether commands in the sandbox have the network: false.'),
  providers: z
    .record(ProviderName, ProviderConfig)
    .optional()
    .describe('Providers of your own, or something else about one that is known.'),
  hooks: HooksConfig.optional().describe('Programs that run at certain events, such as before a call of a tool.'),
  caps: z.array(Cap).max(100).optional().describe('What model calls may cost in a day: docs/spending.md.'),
  rateLimit: RateLimit.optional().describe('How many requests each token or login may send to the server.'),
  fetchHosts: z
    .array(
      z
        .string()
        .max(300)
        .regex(/^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/, 'a host in lower case, or host:port'),
    )
    .max(100)
    .optional()
    .describe('Hosts that `fetch_url` may read although they are on this machine or in a private network.'),
  models: z
    .record(ModelName, GivenFacts)
    .optional()
    .describe('What you know better of a model, or of one of your own.'),
})
export type Config = z.infer<typeof Config>

/** Returns the JSON Schema of the configuration, for editors and other programs. */
export const configJsonSchema = (): object => ({
  ...z.toJSONSchema(Config, { io: 'input' }),
  title: 'Configuration of Holdfast',
})
