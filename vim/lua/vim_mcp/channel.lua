-- Neovim's half of autoload/vim_mcp/channel.vim: a luv pipe. Its read callback
-- runs even while the editor is in a busy loop or at a prompt, so a `health`
-- request is answered there; everything else waits for the main loop, in order.
local uv = vim.uv or vim.loop
local M = {}

local pipes = {}
local facts = { pending_acts = 0, paused = false }

function M.set_facts(new)
  facts = new
  return true
end

-- The answer to a health request, or nil when `line` is something else. Only
-- nvim_get_mode() may be called here.
local function health(line)
  if #line > 4096 or not line:find('"method"%s*:%s*"health"') or not (vim.json and vim.json.decode) then
    return nil
  end
  local ok, request = pcall(vim.json.decode, line)
  if not ok or type(request) ~= 'table' or request.method ~= 'health' or type(request.id) ~= 'number' then
    return nil
  end
  local mode = vim.api.nvim_get_mode()
  return string.format(
    '{"id":%d,"result":{"mode":%s,"blocking":%s,"state":"","pending_acts":%d,"paused":%s}}\n',
    request.id, vim.json.encode(mode.mode), tostring(mode.blocking),
    facts.pending_acts, tostring(facts.paused))
end

-- A fault of ours must not become an error message on the user's screen.
local function call(name, ...)
  local ok, err = pcall(vim.fn[name], ...)
  if not ok then pcall(vim.fn['vim_mcp#log#Write'], name .. ': ' .. tostring(err)) end
end

-- What came before the end is delivered before the end is told: the scheduled
-- functions run in order.
local function finish(id, pipe)
  if not pipe.handle:is_closing() then pipe.handle:close() end
  vim.schedule(function()
    if pipes[id] ~= pipe then return end
    pipes[id] = nil
    call('vim_mcp#channel#NvimClosed', id)
  end)
end

local function deliver(id, pipe)
  pipe.scheduled = false
  local lines = pipe.lines
  pipe.lines = {}
  for i, line in ipairs(lines) do
    if pipes[id] ~= pipe then return end
    pipe.undelivered = #lines - i
    call('vim_mcp#channel#NvimLine', id, line)
  end
end

local function take(id, pipe, line)
  if line == '' then return end
  local answer = health(line)
  if answer then
    pipe.handle:write(answer)
    return
  end
  pipe.lines[#pipe.lines + 1] = line
  if not pipe.scheduled then
    pipe.scheduled = true
    vim.schedule(function() deliver(id, pipe) end)
  end
end

local function received(id, pipe, chunk)
  local start = 1
  while true do
    local stop = chunk:find('\n', start, true)
    if not stop then break end
    pipe.partial[#pipe.partial + 1] = chunk:sub(start, stop - 1)
    local line = #pipe.partial == 1 and pipe.partial[1] or table.concat(pipe.partial)
    pipe.partial = {}
    start = stop + 1
    take(id, pipe, line)
  end
  if start <= #chunk then pipe.partial[#pipe.partial + 1] = chunk:sub(start) end
end

-- Dial `path`. True when the attempt has begun; its end is told later.
function M.open(id, path)
  local handle = uv.new_pipe(false)
  if not handle then return false end
  local pipe = { handle = handle, partial = {}, lines = {}, undelivered = 0, scheduled = false }
  pipes[id] = pipe
  local begun = pcall(handle.connect, handle, path, function(err)
    if err then return finish(id, pipe) end
    handle:read_start(function(read_err, chunk)
      if read_err or not chunk then return finish(id, pipe) end
      if pipes[id] == pipe then received(id, pipe, chunk) end
    end)
    vim.schedule(function()
      if pipes[id] == pipe then call('vim_mcp#channel#NvimOpened', id) end
    end)
  end)
  if not begun then
    pipes[id] = nil
    if not handle:is_closing() then handle:close() end
  end
  return begun
end

-- Queue `text`; libuv writes what the kernel takes at once and the rest later.
function M.send(id, text)
  local pipe = pipes[id]
  if not pipe or pipe.handle:is_closing() then return 0 end
  local ok = pcall(pipe.handle.write, pipe.handle, text)
  return ok and 1 or 0
end

function M.has_more(id)
  local pipe = pipes[id]
  return pipe and (pipe.undelivered > 0 or #pipe.lines > 0) or false
end

function M.close(id)
  local pipe = pipes[id]
  if not pipe then return 0 end
  pipes[id] = nil
  if not pipe.handle:is_closing() then pipe.handle:close() end
  return 1
end

return M
