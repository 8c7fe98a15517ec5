export { wallClock } from './platform/wall-clock.ts'
