import { SeedMessage } from '@holdfast/protocol'
import { z } from 'zod'

const [user, assistant, system, tool] = SeedMessage.options
const any = z.record(z.string(), z.unknown()).optional()
const given = { given: any }
const calls = assistant.shape.toolCalls.unwrap()

/** Seed messages for the API's description: any JSON at all, as a call's arguments may be, is endless to describe. */
export const SeedDescribed = z.array(
  z.union([
    user.extend(given),
    assistant.extend({ ...given, toolCalls: z.array(calls.element.extend({ args: any })).optional() }),
    system.extend(given),
    tool.extend(given),
  ]),
)
