import { z } from 'zod'
import { Frame } from './frame.ts'
import { NewsFrame } from './news.ts'

/** Begins a stream of several sessions. Its id adds sessions to it and drops them. */
export const StreamStarted = z.object({ type: z.literal('stream'), stream: z.uuid() })
export type StreamStarted = z.infer<typeof StreamStarted>

/** One item of a stream of several sessions. An `end` with a `sessionId` ends that session only. */
export const StreamFrame = z.union([StreamStarted, ...Frame.options, ...NewsFrame.options])
export type StreamFrame = z.infer<typeof StreamFrame>
