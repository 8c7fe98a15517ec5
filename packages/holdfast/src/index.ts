export type { CommandOptions, EditorSnapshot, Session } from '@holdfast/client'
export type { Frame, Message, Meta, SessionHandle, Sessions, StartOptions } from '@holdfast/protocol'
export { HoldfastError } from '@holdfast/protocol'
export { type Holdfast, type OpenOptions, openHoldfast } from './open.ts'
