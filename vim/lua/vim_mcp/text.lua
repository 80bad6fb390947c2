-- Valid UTF-8 out of whatever bytes a buffer holds (see autoload/vim_mcp/text.vim).
local M = {}

local FFFD = "\239\191\189"

-- Length of the well-formed sequence at `i` (Unicode 15, table 3-7), or nil.
local function sequence(s, i, lead)
  local low, high, size = 0x80, 0xBF, nil
  if lead >= 0xC2 and lead <= 0xDF then
    size = 2
  elseif lead >= 0xE0 and lead <= 0xEF then
    size = 3
    if lead == 0xE0 then low = 0xA0 elseif lead == 0xED then high = 0x9F end
  elseif lead >= 0xF0 and lead <= 0xF4 then
    size = 4
    if lead == 0xF0 then low = 0x90 elseif lead == 0xF4 then high = 0x8F end
  else
    return nil
  end
  local second = s:byte(i + 1)
  if not second or second < low or second > high then return nil end
  for k = 2, size - 1 do
    local byte = s:byte(i + k)
    if not byte or byte < 0x80 or byte > 0xBF then return nil end
  end
  return size
end

-- `s` with every byte that is no part of a well-formed sequence as U+FFFD.
function M.clean(s)
  local i = s:find("[\128-\255]")
  local parts, done = nil, 1
  while i do
    local size = sequence(s, i, s:byte(i))
    if size then
      i = s:find("[\128-\255]", i + size)
    else
      parts = parts or {}
      parts[#parts + 1] = s:sub(done, i - 1)
      parts[#parts + 1] = FFFD
      done = i + 1
      i = s:find("[\128-\255]", done)
    end
  end
  if not parts then return s end
  parts[#parts + 1] = s:sub(done)
  return table.concat(parts)
end

return M
