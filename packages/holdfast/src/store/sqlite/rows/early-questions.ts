import type { Question, ReadRequests, StoreChange } from './requests.ts'

/**
 * The questions that the writer's thread answers until the reader's thread has started. Each reads a row or a page, so that
 * a change waits only a moment. Searches and what follows the whole log are not among them.
 */
const early = {
  read: true,
  readRefs: true,
  findCommand: true,
  commandHash: true,
  list: true,
  find: true,
  busy: true,
  entry: true,
  nodes: true,
  loadDraft: true,
  loadSnapshot: true,
  workspaceTrust: true,
  refersTo: true,
  tokens: true,
} satisfies { readonly [Name in keyof ReadRequests]?: true }

export const isEarlyQuestion = (request: StoreChange | Question): request is Question =>
  Object.hasOwn(early, request[0])
