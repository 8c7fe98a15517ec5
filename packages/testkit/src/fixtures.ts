/** What tests write down instead of living through it. Browser-safe, so that tests of the page may use it too. */
export { aMessage, aToolCall } from './fixtures/message.ts'
export { aMeta } from './fixtures/meta.ts'
export { aFrame, aRecord, type EventInput } from './fixtures/record.ts'
export { aView } from './fixtures/view.ts'
